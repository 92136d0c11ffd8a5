package openai

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
)

const noFileID = "is not taken; send the image as image_url"

// imagesMembers has a decision for each member of a request of images.
var imagesMembers = inbound.Rules{
	"model": translated, "prompt": translated, "n": translated, "size": translated, "quality": translated, "background": translated,
	"output_format": translated, "response_format": translated,

	"user": noEffect,

	"stream": inbound.Only("false"), "partial_images": inbound.Only("0"), "output_compression": inbound.Only("100"), "moderation": inbound.Only(`"auto"`),

	"style": inbound.Refused("can't be honoured here; write it into the prompt"),
}

// editsMembers has a decision for each member of an edit's request in JSON, and one of the service's own.
var editsMembers = inbound.Rules{
	"model": translated, "prompt": translated, "images": translated, "mask": translated, "n": translated, "size": translated, "quality": translated,
	"output_format": translated, "input_fidelity": translated, catalog.Authorization: translated,

	"user": noEffect,

	"stream": inbound.Only("false"), "partial_images": inbound.Only("0"), "output_compression": inbound.Only("100"), "moderation": inbound.Only(`"auto"`), "background": inbound.Only(`"auto"`),
}

// linkedMembers are those of an image in such a request.
var linkedMembers = inbound.Rules{"image_url": translated, "file_id": inbound.Refused(noFileID)}

// editFormMembers has a decision for each member of an edit's form, and one of the service's own.
var editFormMembers = inbound.Rules{
	"model": translated, "prompt": translated, "image": translated, "mask": translated, "n": translated, "size": translated, "quality": translated,
	"output_format": translated, "input_fidelity": translated, "response_format": translated, catalog.Authorization: translated,

	"user": noEffect,

	"stream": inbound.Only("false"), "partial_images": inbound.Only("0"), "output_compression": inbound.Only("100"), "background": inbound.Only(`"auto"`),
}

var editShapes = map[string]shape{
	"image": files, "mask": aFile, "n": aValue, "stream": aValue, "partial_images": aValue, "output_compression": aValue, catalog.Authorization: anObject,
}

// speechMembers has a decision for each member of a request of speech.
var speechMembers = inbound.Rules{
	"model": translated, "input": translated, "voice": translated, "instructions": translated, "response_format": translated, "speed": translated,

	"stream_format": inbound.Only(`"audio"`),
}

// transcriptionMembers has a decision for each member of a transcription's form.
var transcriptionMembers = inbound.Rules{
	"model": translated, "file": translated, "language": translated, "prompt": translated, "keywords": translated, "response_format": translated,
	"timestamp_granularities": translated,

	"stream": inbound.Only("false"), "temperature": inbound.Only("0"), "chunking_strategy": inbound.Only(`"auto"`),

	"include": inbound.Refused(unknownHere), "known_speaker_names": inbound.Refused(unknownHere), "known_speaker_references": inbound.Refused(unknownHere),
	"languages": inbound.Refused("is not taken; language takes its place"),
}

// translationMembers has a decision for each member of a translation's form.
var translationMembers = inbound.Rules{
	"model": translated, "file": translated, "prompt": translated, "response_format": translated, "temperature": inbound.Only("0"),
}

var recordingShapes = map[string]shape{
	"file": aFile, "keywords": texts, "timestamp_granularities": texts, "include": texts, "languages": texts,
	"known_speaker_names": texts, "known_speaker_references": texts, "stream": aValue, "temperature": aValue,
}

// moderationMembers has a decision for each member of a moderation's request.
var moderationMembers = inbound.Rules{"model": translated, "input": translated}
