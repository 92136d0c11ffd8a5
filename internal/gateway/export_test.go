package gateway

// Followed returns how many tasks' texts are kept for the streams that follow them.
func Followed(g *Gateway) int64 { return g.texts.open.Load() }
