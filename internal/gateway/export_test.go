package gateway

// Followed returns how many tasks' texts are kept for those who follow them.
func Followed(g *Gateway) int64 { return g.lives.open.Load() }
