package gemini_test

import (
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestPublished holds what is sent, and what the fakes answer, against Google's published document. Of a
// video it knows the instances' place and no more.
func TestPublished(t *testing.T) {
	chat := []string{
		"contents[].parts[].text", "contents[].role", "generationConfig.maxOutputTokens", "generationConfig.seed",
		"generationConfig.stopSequences[]", "generationConfig.temperature", "generationConfig.topP",
	}
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: harness(t),
		More: []supplier.Request{
			request("text.chat", `{"prompt":"Hi"}`, `{}`), request("text.embed", `{"texts":["a"]}`, `{"dimensions":8}`),
			withMedia(request("video.generate", `{"prompt":"Waves","reference_images":[{"data":"A"}],"authorization":{"person":"none"}}`,
				`{"duration_seconds":8}`), "/reference_images/0"),
		},
		Want: map[string][]string{
			"GET /models": nil,
			"GET /models/{modelsId}/operations/{operationsId}": nil,
			"POST /models/{modelsId}:batchEmbedContents": {
				"requests[].content.parts[].text", "requests[].model", "requests[].outputDimensionality",
			},
			"POST /models/{modelsId}:embedContent": {"content.parts[].text", "model", "outputDimensionality"},
			"POST /models/{modelsId}:generateContent": {
				"contents[].parts[].inlineData.data", "contents[].parts[].inlineData.mimeType", "contents[].parts[].text", "contents[].role",
				"generationConfig.imageConfig.aspectRatio", "generationConfig.imageConfig.imageSize", "generationConfig.maxOutputTokens",
				"generationConfig.responseModalities[]", "generationConfig.seed",
				"generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName", "generationConfig.stopSequences[]",
				"generationConfig.temperature", "generationConfig.topP", "systemInstruction.parts[].text",
			},
			"POST /models/{modelsId}:predictLongRunning": {
				"instances[].image.bytesBase64Encoded", "instances[].image.mimeType", "instances[].lastFrame.bytesBase64Encoded",
				"instances[].lastFrame.mimeType", "instances[].prompt", "instances[].referenceImages[].image.bytesBase64Encoded",
				"instances[].referenceImages[].image.mimeType", "instances[].referenceImages[].referenceType",
				"parameters.aspectRatio", "parameters.durationSeconds", "parameters.resolution",
			},
			"POST /models/{modelsId}:streamGenerateContent": append(chat, "query alt", "systemInstruction.parts[].text"),
		},
	})
}
