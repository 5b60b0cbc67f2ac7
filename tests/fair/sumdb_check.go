// Reads a log folder with golang.org/x/mod/sumdb, which is not ours: note.Open, tlog.CheckRecord, tlog.CheckTree.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type tiles struct{ dir string }

func (t tiles) Height() int { return 8 }
func (t tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, w := range want {
		// Go's paths have the tile's height first: tile/8/L/N.
		data, err := os.ReadFile(filepath.Join(t.dir, strings.Replace(w.Path(), "tile/8/", "tile/", 1)))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}
func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	dir := os.Args[1]
	vkey, err := os.ReadFile(filepath.Join(dir, "key"))
	must(err)
	verifier, err := note.NewVerifier(strings.TrimSpace(string(vkey)))
	must(err)
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	must(err)
	n, err := note.Open(text, note.VerifierList(verifier))
	must(err)
	fmt.Printf("note.Open: signed by %s, %d other signatures\n", n.Sigs[0].Name, len(n.UnverifiedSigs))
	lines := strings.Split(n.Text, "\n")
	var size int64
	fmt.Sscan(lines[1], &size)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	tree := tlog.Tree{N: size, Hash: root}
	reader := tlog.TileHashReader(tree, tiles{dir})
	var records [][]byte
	for first := int64(0); first < size; first += 256 {
		tile := tlog.Tile{H: 8, L: -1, N: first / 256, W: int(min(256, size-first))}
		path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(dir, path))
		must(err)
		for len(data) > 0 {
			length := int(binary.BigEndian.Uint16(data))
			records = append(records, data[2:2+length])
			data = data[2+length:]
		}
	}
	for i, record := range records {
		proof, err := tlog.ProveRecord(size, int64(i), reader)
		must(err)
		must(tlog.CheckRecord(proof, size, root, int64(i), tlog.RecordHash(record)))
	}
	fmt.Printf("tlog.CheckRecord: %d records\n", len(records))
	for old := int64(1); old <= size; old++ {
		hash, err := tlog.TreeHash(old, reader)
		must(err)
		proof, err := tlog.ProveTree(size, old, reader)
		must(err)
		must(tlog.CheckTree(proof, size, root, old, hash))
	}
	fmt.Printf("tlog.CheckTree: from every size up to %d\n", size)
}
