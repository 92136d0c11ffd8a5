// Package media makes the sandbox's pictures, videos and sounds.
//
// Every maker is a pure function of its arguments: the same arguments give the same bytes on the same architecture,
// now and after a restart. The bytes are real: pictures decode, the MP4 files play in browsers (H.264 constrained
// baseline, FLAC sound), the WAV and FLAC files play anywhere. The package reads no clock, no file and no network,
// and doesn't import the gateway.
package media
