package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestPublished validates the requests, and the fakes' answers, by Google's published document, and videos, which
// that lacks, by a schema of our own after the requests of Google's library.
func TestPublished(t *testing.T) {
	chat := []string{
		"contents[].parts[].text", "contents[].role", "generationConfig.maxOutputTokens", "generationConfig.seed",
		"generationConfig.stopSequences[]", "generationConfig.temperature", "generationConfig.topP",
	}
	thinking := request("text.chat", `{"prompt":"Hi"}`, `{"reasoning":"low"}`)
	thinking.Model = "gemini-2.5-flash"
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: harness(t),
		More: []supplier.Request{
			request("text.chat", `{"prompt":"Hi"}`, `{}`), thinking, request("text.embed", `{"texts":["a"]}`, `{"dimensions":8}`),
			withMedia(request("video.generate", `{"prompt":"Waves","reference_images":[{"data":"A"}],"authorization":{"person":"none"}}`,
				`{"duration_seconds":8}`), "/reference_images/0"),
		},
		Want: map[string][]string{
			"GET /models": nil,
			"GET /models/{modelsId}/operations/{operationsId}": nil,
			"POST /models/{modelsId}:batchEmbedContents": {
				"requests[].content.parts[].text", "requests[].model", "requests[].outputDimensionality", "requests[].taskType",
			},
			"POST /models/{modelsId}:embedContent": {"content.parts[].text", "model", "outputDimensionality"},
			"POST /models/{modelsId}:generateContent": {
				"contents[].parts[].functionCall.args.arguments", "contents[].parts[].functionCall.args.place",
				"contents[].parts[].functionCall.id", "contents[].parts[].functionCall.name", "contents[].parts[].functionResponse.id",
				"contents[].parts[].functionResponse.name", "contents[].parts[].functionResponse.response.result",
				"contents[].parts[].inlineData.data", "contents[].parts[].inlineData.mimeType", "contents[].parts[].text",
				"contents[].parts[].thoughtSignature", "contents[].role",
				"generationConfig.imageConfig.aspectRatio", "generationConfig.imageConfig.imageSize", "generationConfig.maxOutputTokens",
				"generationConfig.responseJsonSchema", "generationConfig.responseMimeType",
				"generationConfig.responseModalities[]", "generationConfig.seed",
				"generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName", "generationConfig.stopSequences[]",
				"generationConfig.temperature", "generationConfig.thinkingConfig.includeThoughts",
				"generationConfig.thinkingConfig.thinkingBudget", "generationConfig.thinkingConfig.thinkingLevel", "generationConfig.topP",
				"systemInstruction.parts[].text", "toolConfig.functionCallingConfig.allowedFunctionNames[]",
				"toolConfig.functionCallingConfig.mode", "tools[].functionDeclarations[].description",
				"tools[].functionDeclarations[].name", "tools[].functionDeclarations[].parametersJsonSchema", "tools[].googleSearch",
			},
			"POST /models/{modelsId}:predictLongRunning": {
				"instances[].image.bytesBase64Encoded", "instances[].image.mimeType", "instances[].lastFrame.bytesBase64Encoded",
				"instances[].lastFrame.mimeType", "instances[].prompt", "instances[].referenceImages[].image.bytesBase64Encoded",
				"instances[].referenceImages[].image.mimeType", "instances[].referenceImages[].referenceType",
				"parameters.aspectRatio", "parameters.durationSeconds", "parameters.resolution",
			},
			"POST /models/{modelsId}:streamGenerateContent": append(chat, "query alt", "systemInstruction.parts[].text", "tools[].googleSearch"),
		},
	})
}

// TestVideoAsLibrary holds the requests for videos to those that Google's library sends for the same
// (testdata/veo.mjs), member for member and value for value.
func TestVideoAsLibrary(t *testing.T) {
	type sent struct {
		Path string `json:"path"`
		Body any    `json:"body"`
	}
	text, err := os.ReadFile("testdata/veo_sent.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []sent
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	var got []sent
	a := suppliertest.Answered(t, harness(t).Kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := sent{Path: r.URL.Path}
		if err := json.NewDecoder(r.Body).Decode(&one.Body); err != nil {
			t.Error(err)
		}
		got = append(got, one)
		_, _ = io.WriteString(w, `{"name":"`+operationID+`"}`)
	}))
	for _, r := range []supplier.Request{
		request("video.generate", `{"prompt":"Waves"}`, `{}`),
		request("video.generate", `{"prompt":"Waves"}`, `{"duration_seconds":8,"aspect_ratio":"9:16","resolution":"1080p"}`),
		withMedia(request("video.generate", `{"image":{"data":"A"}}`, `{}`), "/image"),
		withMedia(request("video.generate", `{"prompt":"Waves","image":{"data":"A"},"last_image":{"data":"B"}}`, `{"duration_seconds":6}`), "/image", "/last_image"),
		withMedia(request("video.generate", `{"prompt":"Waves","reference_images":[{"data":"A"},{"data":"B"}]}`, `{"duration_seconds":8}`),
			"/reference_images/0", "/reference_images/1"),
	} {
		if _, err := a.Submit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-the library's +sent):\n%s", diff)
	}
}
