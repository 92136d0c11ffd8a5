package openai

import "unitask/internal/catalog"

const noFileID = "is not taken; send the image as image_url"

// imagesMembers has a decision for each member of a request of images.
var imagesMembers = rules{
	"model": translated, "prompt": translated, "n": translated, "size": translated, "quality": translated, "background": translated,
	"output_format": translated, "response_format": translated,

	"user": noEffect,

	"stream": only("false"), "partial_images": only("0"), "output_compression": only("100"), "moderation": only(`"auto"`),

	"style": refused("can't be honoured here; write it into the prompt"),
}

// editsMembers has a decision for each member of an edit's request in JSON, and one of the service's own.
var editsMembers = rules{
	"model": translated, "prompt": translated, "images": translated, "mask": translated, "n": translated, "size": translated, "quality": translated,
	"output_format": translated, "input_fidelity": translated, catalog.Authorization: translated,

	"user": noEffect,

	"stream": only("false"), "partial_images": only("0"), "output_compression": only("100"), "moderation": only(`"auto"`), "background": only(`"auto"`),
}

// linkedMembers are those of an image in such a request.
var linkedMembers = rules{"image_url": translated, "file_id": refused(noFileID)}

// editFormMembers has a decision for each member of an edit's form, and one of the service's own.
var editFormMembers = rules{
	"model": translated, "prompt": translated, "image": translated, "mask": translated, "n": translated, "size": translated, "quality": translated,
	"output_format": translated, "input_fidelity": translated, "response_format": translated, catalog.Authorization: translated,

	"user": noEffect,

	"stream": only("false"), "partial_images": only("0"), "output_compression": only("100"), "background": only(`"auto"`),
}

var editShapes = map[string]shape{
	"image": files, "mask": aFile, "n": aValue, "stream": aValue, "partial_images": aValue, "output_compression": aValue, catalog.Authorization: anObject,
}

// speechMembers has a decision for each member of a request of speech.
var speechMembers = rules{
	"model": translated, "input": translated, "voice": translated, "instructions": translated, "response_format": translated, "speed": translated,

	"stream_format": only(`"audio"`),
}

// transcriptionMembers has a decision for each member of a transcription's form.
var transcriptionMembers = rules{
	"model": translated, "file": translated, "language": translated, "prompt": translated, "keywords": translated, "response_format": translated,
	"timestamp_granularities": translated,

	"stream": only("false"), "temperature": only("0"), "chunking_strategy": only(`"auto"`),

	"include": refused(unknownHere), "known_speaker_names": refused(unknownHere), "known_speaker_references": refused(unknownHere),
	"languages": refused("is not taken; language takes its place"),
}

// translationMembers has a decision for each member of a translation's form.
var translationMembers = rules{
	"model": translated, "file": translated, "prompt": translated, "response_format": translated, "temperature": only("0"),
}

var recordingShapes = map[string]shape{
	"file": aFile, "keywords": texts, "timestamp_granularities": texts, "include": texts, "languages": texts,
	"known_speaker_names": texts, "known_speaker_references": texts, "stream": aValue, "temperature": aValue,
}

// moderationMembers has a decision for each member of a moderation's request.
var moderationMembers = rules{"model": translated, "input": translated}
