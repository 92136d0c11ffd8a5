package unitask_test

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// callDone is the end of a task whose answer calls tools.
const callDone = `,"output":{"text":"And.","tool_calls":[{"id":"theirs","name":"now","arguments":{}},{"id":"more","name":"now","arguments":"{","invalid":true}],` +
	`"citations":[{"url":"https://a.example","title":"A","text":"b"}],"reasoning":"Hm.","finish_reason":"tool_calls","state":"new-state"},` +
	`"usage":{"input_tokens":9,"output_tokens":2}`

func cases() []suppliertest.Case {
	edit := request("image.edit", `{"prompt":"Bluer","images":[{"url":"https://caller.example/a.png"}]}`, `{"n":1}`)
	edit.Authorization = &supplier.Authorization{Person: "authorized", Statement: "Yes."}
	edit.Model, edit.Media = "image.edit.v2", map[string]supplier.Media{"/images/0": media("image/png", "abc")}
	transcribe := request("audio.transcribe", `{"audio":{"artifact":"art_2"}}`, `{}`)
	transcribe.Media = map[string]supplier.Media{"/audio": media("audio/wav", "abc")}
	wholeOf := func(r supplier.Request, done string, want supplier.Result) suppliertest.Case {
		return suppliertest.Case{Request: r, Answer: suppliertest.JSON(200, taskOf("succeeded", done)), Want: &want, Alike: true}
	}
	whole := func(capability, input, done string, want supplier.Result) suppliertest.Case {
		return wholeOf(request(capability, input, `{}`), done, want)
	}
	enlarge := request("image.upscale", `{"image":{"url":"https://caller.example/a.png"}}`, `{}`)
	cutout := enlarge
	cutout.Capability, cutout.Model = "image.background_remove", "image.background_remove"
	cutout.Media = map[string]supplier.Media{"/image": media("image/png", "abc")}
	extend := request("video.extend", `{"prompt":"On","video":{"url":"https://caller.example/a.mp4"}}`, `{"duration_seconds":7}`)
	extend.Media = map[string]supplier.Media{"/video": media("video/mp4", "abc")}
	enlarge.Media = map[string]supplier.Media{"/image": media("image/png", "abc")}
	look := request("text.chat", `{"messages":[{"role":"user","content":[{"type":"text","text":"What?"},{"type":"image","image":{"url":"https://caller.example/a.png"}}]}]}`, `{}`)
	look.Media = map[string]supplier.Media{"/messages/0/content/1/image": media("image/png", "abc")}
	picture := supplier.File{URL: "https://gateway.example/artifacts/art_1?s=1", ContentType: "image/png", Width: 8, Height: 4}
	return []suppliertest.Case{
		{
			Request: request("text.chat", `{"prompt":"Greet me"}`, `{"seed":9007199254740991}`),
			Sends:   `{"capability":"text.chat","input":{"prompt":"Greet me"},"parameters":{"seed":9007199254740991}}`,
			Answer:  suppliertest.JSON(200, taskOf("succeeded", chatDone)),
			Stream:  events("task", taskOf("running", ""), "delta", `{"text":"Hel"}`, "task", taskOf("succeeded", chatDone)),
			Want: &supplier.Result{
				Text: new("Hello."), FinishReason: "length", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}, Charged: new(int64(13_000)),
			},
		},
		{
			Request: suppliertest.ToolTalk("text.chat", json.RawMessage(`"their-state"`), ""),
			Sends: `{"capability":"text.chat","parameters":{"tools":` + suppliertest.Tools + `},"input":{"messages":[{"content":"What is it like?","role":"user"},
				{"content":"Let me see.","role":"assistant","state":"their-state","tool_calls":[{"arguments":{"place":"Lund"},"id":"call_1","name":"get_weather"},
					{"arguments":"{now","id":"call_2","invalid":true,"name":"now"}]},
				{"content":"Rain","role":"tool","tool_call_id":"call_1"},{"content":[{"text":"Noon","type":"text"}],"role":"tool","tool_call_id":"call_2"}]}}`,
			Answer: suppliertest.JSON(200, taskOf("succeeded", callDone)),
			Stream: events("task", taskOf("running", ""), "delta", `{"reasoning":"Hm"}`, "delta", `{"text":"A"}`,
				"delta", `{"tool_call":{"index":0,"id":"theirs","name":"now","arguments":""}}`, "delta", `{"tool_call":{"index":0,"id":"theirs","name":"now","arguments":"{}"}}`,
				"delta", `{"tool_call":{"index":1,"id":"more","name":"now","arguments":"{"}}`, "task", taskOf("succeeded", callDone)),
			Want: &supplier.Result{
				Text: new("And."), FinishReason: supplier.FinishToolCalls, Reasoning: "Hm.", State: json.RawMessage(`"new-state"`),
				ToolCalls: []supplier.ToolCall{{Name: "now", Arguments: "{}"}, {Name: "now", Arguments: "{"}},
				Citations: []supplier.Citation{{URL: "https://a.example", Title: "A", Text: "b"}}, Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2},
			},
		},
		{
			Request: suppliertest.ToolTalk("text.chat", nil, `"tool_choice":"none"`), Alike: true,
			Sends: `{"capability":"text.chat","parameters":{"tool_choice":"none","tools":` + suppliertest.Tools + `},"input":{"messages":[{"content":"What is it like?","role":"user"},
				{"content":"Let me see.","role":"assistant","tool_calls":[{"arguments":{"place":"Lund"},"id":"call_1","name":"get_weather"},
					{"arguments":"{now","id":"call_2","invalid":true,"name":"now"}]},
				{"content":"Rain","role":"tool","tool_call_id":"call_1"},{"content":[{"text":"Noon","type":"text"}],"role":"tool","tool_call_id":"call_2"}]}}`,
			Answer: suppliertest.JSON(200, taskOf("succeeded", chatDone)),
			Want: &supplier.Result{
				Text: new("Hello."), FinishReason: "length", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}, Charged: new(int64(13_000)),
			},
		},
		{
			Request: look, Alike: true,
			Sends: `{"capability":"text.chat","input":{"messages":[{"role":"user","content":[{"type":"text","text":"What?"},
				{"type":"image","image":{"content_type":"image/png","data":"YWJj"}}]}]},"parameters":{}}`,
			Answer: suppliertest.JSON(200, taskOf("succeeded", chatDone)),
			Want: &supplier.Result{
				Text: new("Hello."), FinishReason: "length", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}, Charged: new(int64(13_000)),
			},
		},
		{
			Request: edit,
			Sends: `{"capability":"image.edit.v2","input":{"prompt":"Bluer","images":[{"content_type":"image/png","data":"YWJj"}],
				"authorization":{"person":"authorized","statement":"Yes."}},"parameters":{"n":1}}`,
			Answer: job(`,"output":{"images":[{` + fileDone + `]},"usage":{"images":1,"cost":{"currency":"USD","amount":"0.04"}}`),
			Stream: events("task", taskOf("running", ""), "task", taskOf("succeeded", `,"output":{"images":[{`+fileDone+`]},"usage":{"images":1,"cost":{"currency":"USD","amount":"0.04"}}`)),
			Want:   &supplier.Result{Files: []supplier.File{picture}, Usage: supplier.Usage{Images: 1}, Charged: new(int64(40_000_000))},
		},
		{
			Request: transcribe, Alike: true,
			Sends:  `{"capability":"audio.transcribe","input":{"audio":{"content_type":"audio/wav","data":"YWJj"}},"parameters":{}}`,
			Answer: suppliertest.JSON(200, taskOf("succeeded", `,"output":{"text":"Hi","segments":[{"start":0,"end":1.5,"text":"Hi","speaker":"A"}],"words":[{"start":0,"end":1,"text":"Hi"}]},"usage":{"seconds":1.001,"cost":{"amount":"?"}}`)),
			Want: &supplier.Result{
				Text: new("Hi"), FinishReason: "stop", Segments: []supplier.Segment{{End: 1.5, Text: "Hi", Speaker: "A"}},
				Words: []supplier.Segment{{End: 1, Text: "Hi"}}, Usage: supplier.Usage{Milliseconds: 1001},
			},
		},
		whole("text.embed", `{"texts":["a"]}`, `,"output":{"embeddings":[[0.5,1]]},"usage":{"input_tokens":3}`,
			supplier.Result{Embeddings: [][]float32{{0.5, 1}}, Usage: supplier.Usage{InputTokens: 3}}),
		whole("text.moderate", `{"texts":["a"]}`, `,"output":{"results":[{"flagged":false,"categories":[],"scores":{}}]},"usage":{"input_tokens":1}`,
			supplier.Result{Data: json.RawMessage(`{"results":[{"flagged":false,"categories":[],"scores":{}}]}`), Usage: supplier.Usage{InputTokens: 1}}),
		whole("text.rerank", `{"query":"a","documents":["b"]}`, `,"output":{"results":[{"index":0,"score":0.5}]},"usage":{"searches":1}`,
			supplier.Result{Data: json.RawMessage(`{"results":[{"index":0,"score":0.5}]}`), Usage: supplier.Usage{Searches: 1}}),
		whole("image.generate", `{"prompt":"A fox"}`, `,"output":{"images":[{`+fileDone+`]}`, supplier.Result{Files: []supplier.File{picture}}),
		wholeOf(enlarge, `,"output":{"images":[{`+fileDone+`]}`, supplier.Result{Files: []supplier.File{picture}}),
		wholeOf(extend, `,"output":{"videos":[{`+fileDone+`]},"usage":{"seconds":7}`,
			supplier.Result{Files: []supplier.File{picture}, Usage: supplier.Usage{Milliseconds: 7000}}),
		wholeOf(cutout, `,"output":{"images":[{`+fileDone+`]}`, supplier.Result{Files: []supplier.File{picture}}),
		whole("audio.speech", `{"text":"Hi"}`, `,"output":{"audio":{`+fileDone+`},"usage":{"characters":2}`,
			supplier.Result{Files: []supplier.File{picture}, Usage: supplier.Usage{Characters: 2}}),
		whole("video.generate", `{"prompt":"Waves"}`, `,"output":{"videos":[{"id":"art_1","url":"https://gateway.example/v.mp4","content_type":"video/mp4","duration_seconds":4.5}]}`,
			supplier.Result{Files: []supplier.File{{URL: "https://gateway.example/v.mp4", ContentType: "video/mp4", Duration: 4.5}}}),
	}
}
