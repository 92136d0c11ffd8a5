package media

import (
	"encoding/binary"
	"math"
)

// Video returns an MP4 file that plays in browsers: H.264 at 24 pictures a second and, when asked
// for, FLAC sound. It begins to play before it is whole.
func Video(s VideoSpec) []byte {
	e := newEncoder(s.Width, s.Height)
	sc := newScene(s, e.across, e.down)
	pictures := track{
		handler: "vide", timescale: framesPerSecond * 512, step: 512, last: 512, entry: avcEntry(e),
		syncFirst: true, width: s.Width, height: s.Height,
		samples: [][]byte{withLength(e.intra(sc.picture(0)))},
	}
	for number := 1; number < s.frames(); number++ {
		unit := e.predicted(number%(1<<frameNumberBits), sc.plan(number))
		pictures.samples = append(pictures.samples, withLength(unit))
	}
	if !s.Sound {
		return mux(pictures)
	}
	return mux(pictures, toneTrack(s))
}

// withLength puts the unit's length before it, as MP4 wants.
func withLength(unit []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, len(unit)+4), uint32(len(unit))), unit...)
}

// toneTrack is the soft chord that goes with a video.
func toneTrack(s VideoSpec) track {
	sound := chord(newPalette(s.Prompt, s.Seed), float64(s.frames())/framesPerSecond)
	frames := sound.flacFrames()
	last := len(sound.Samples) - (len(frames)-1)*flacBlock
	return track{
		handler: "soun", timescale: sound.Rate, step: flacBlock, last: last, samples: frames,
		entry: flacEntry(sound, sound.streamInfo(frames)),
	}
}

// chord is three soft voices that swell and fade like waves.
func chord(p *palette, seconds float64) Sound {
	const rate = 24000
	base := 110 * math.Exp2(p.hue/360)
	out := Sound{Rate: rate, Samples: make([]int16, int(math.Round(seconds*rate)))}
	for i := range out.Samples {
		t := float64(i) / rate
		swell := 0.6 + 0.4*math.Sin(2*math.Pi*t/4)
		v := 0.0
		for _, ratio := range []float64{1, 1.25, 1.5} {
			v += math.Sin(2 * math.Pi * base * ratio * t)
		}
		edge := min(1, 8*t, 8*(seconds-t))
		out.Samples[i] = int16(2200 * v * swell * edge)
	}
	return out
}
