package media_test

import (
	"testing"

	"unitask/internal/supplier/sandbox/media"
)

func BenchmarkPicture(b *testing.B) {
	for _, format := range media.Formats() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				img := media.Draw(media.PictureSpec{Prompt: "a red fox", Width: 1024, Height: 1024, Detail: media.Medium})
				data, err := media.Encode(img, format, media.Medium)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(data)), "bytes")
			}
		})
	}
}

func BenchmarkVideo(b *testing.B) {
	for name, spec := range map[string]media.VideoSpec{
		"720p8s":  {Prompt: "waves", Width: 1280, Height: 720, Seconds: 8, Sound: true},
		"1080p8s": {Prompt: "waves", Width: 1920, Height: 1080, Seconds: 8, Sound: true},
		"4k8s":    {Prompt: "waves", Width: 3840, Height: 2160, Seconds: 8, Sound: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(len(media.Video(spec))), "bytes")
			}
		})
	}
}
