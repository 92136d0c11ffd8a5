package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"unitask/internal/catalog"
)

// Fingerprint returns a short hash of the settings that nodes on one store should have in common, with the directory
// that they lead to.
func (c Config) Fingerprint(directory *catalog.Catalog) (string, error) {
	c.Listen, c.MetricsListen, c.NodeURL, c.DataDir, c.Catalog = "", "", "", "", nil
	raw, err := json.Marshal(struct {
		Settings  Config
		Directory []catalog.Capability
	}{c, directory.All()})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:6]), err
}
