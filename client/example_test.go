package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"unitask/client"
)

func Example() {
	c, err := client.New("https://ai.example.com", os.Getenv("UNITASK_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	task, err := c.TextChat(ctx, client.TextChatInput{
		Messages: []client.TextChatMessage{
			{Role: "user", Content: &client.Several[client.Part]{Parts: []client.Part{
				{Type: "text", Text: "What is on this picture?"},
				{Type: "image", Image: &client.Media{URL: "https://example.com/fox.jpg"}},
			}}},
		},
		Parameters: client.TextChatParameters{MaxOutputTokens: 300, Temperature: new(0.0)},
	})
	if e, ok := errors.AsType[*client.Error](err); ok {
		log.Fatalf("%s (request %s)", e, e.RequestID)
	} else if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Output.Text)
}

func ExampleStream() {
	c, err := client.New("https://ai.example.com", os.Getenv("UNITASK_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range client.Stream(context.Background(), c, client.TextChatInput{Prompt: "Tell me a story."}) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Delta != nil {
			fmt.Print(event.Delta.Text)
		}
	}
}

func ExampleSubmit() {
	ctx := context.Background()
	c, err := client.New("https://ai.example.com", os.Getenv("UNITASK_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	key := client.NewIdempotencyKey() // to be kept before the call: the same request under it is the same task
	task, err := client.Submit(ctx, c, client.VideoGenerateInput{Prompt: "Waves at dusk"}, client.WithIdempotencyKey(key))
	if err == nil {
		task, err = client.Wait(ctx, c, task)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Output.Videos[0].URL)
}

func ExampleClient_Upload() {
	ctx := context.Background()
	c, err := client.New("https://ai.example.com", os.Getenv("UNITASK_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("meeting.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	sent, err := c.Upload(ctx, file, "audio/wav")
	if err != nil {
		log.Fatal(err)
	}
	task, err := c.AudioTranscribe(ctx, client.AudioTranscribeInput{Audio: sent.Media()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Output.Text)
}

func ExampleWebhook() {
	hook, err := client.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /unitask", func(w http.ResponseWriter, r *http.Request) {
		event, err := hook.Read(r)
		if err != nil {
			http.Error(w, "not verified", http.StatusBadRequest)
			return
		}
		fmt.Println(event.Data.ID, "is", event.Data.State)
		w.WriteHeader(http.StatusNoContent)
	})
}
