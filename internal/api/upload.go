package api

// UploadCreate announces a file that goes ahead of the tasks that use it.
type UploadCreate struct {
	ContentType string `json:"content_type"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // hexadecimal
}

// UploadState says whether an upload is an artifact yet.
type UploadState string

// The states of an upload.
const (
	UploadOpen     UploadState = "open"     // bytes are missing
	UploadComplete UploadState = "complete" // it is an artifact, which inputs may name
	UploadDamaged  UploadState = "damaged"  // the service can't read it any more: ContentType, SHA256 and Received aren't known
)

// Upload is a file on its way.
type Upload struct {
	Artifact    string      `json:"artifact"` // its id
	State       UploadState `json:"state"`
	ContentType string      `json:"content_type"`
	Bytes       int64       `json:"bytes"`
	SHA256      string      `json:"sha256"`
	Received    int64       `json:"received"`      // bytes
	URL         string      `json:"url,omitempty"` // where its bytes are sent, without a key; "" once it is complete
	ExpiresAt   Timestamp   `json:"expires_at"`    // of the upload, then of the artifact
}

// UploadResponse is the answer about one upload.
type UploadResponse struct {
	Upload    Upload `json:"upload"`
	RequestID string `json:"request_id"`
}

// UploadList is a page of uploads, the one that expires first at the beginning; NextCursor is null at the end.
type UploadList struct {
	Data       []Upload `json:"data"`
	NextCursor *string  `json:"next_cursor"`
	RequestID  string   `json:"request_id"`
}

// Done is the answer to a request after which there is no more to say.
type Done struct {
	RequestID string `json:"request_id"`
}
