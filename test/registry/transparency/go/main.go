// Verifies a copy of a public log with Go's own checksum database code: the signature of the checkpoint,
// the hash of every leaf, an inclusion proof for each, and consistency with every older size.
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

type tiles struct{ folder string }

func (t tiles) Height() int                              { return 8 }
func (t tiles) SaveTiles(tiles []tlog.Tile, data [][]byte) {}
func (t tiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		// sumdb writes tile/8/0/000 where tlog-tiles has tile/0/000.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(t.folder, path))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	folder := os.Args[1]
	key, err := os.ReadFile(filepath.Join(folder, "key"))
	check(err)
	verifier, err := note.NewVerifier(strings.TrimSpace(string(key)))
	check(err)
	signed, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	check(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	var tree tlog.Tree
	_, err = fmt.Sscan(lines[1], &tree.N)
	check(err)
	tree.Hash, err = tlog.ParseHash(lines[2])
	check(err)
	if lines[0] != verifier.Name() {
		log.Fatalf("origin %s, key %s", lines[0], verifier.Name())
	}

	reader := tlog.TileHashReader(tree, tiles{folder})
	var leaf int64
	for bundle := int64(0); bundle*256 < tree.N; bundle++ {
		tile := tlog.Tile{H: 8, L: -1, N: bundle, W: 256}
		if tree.N-bundle*256 < 256 {
			tile.W = int(tree.N - bundle*256)
		}
		path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(folder, path))
		check(err)
		for ; len(data) > 0; leaf++ {
			size := int(binary.BigEndian.Uint16(data))
			hash := tlog.RecordHash(data[2 : 2+size])
			data = data[2+size:]
			proof, err := tlog.ProveRecord(tree.N, leaf, reader)
			check(err)
			check(tlog.CheckRecord(proof, tree.N, tree.Hash, leaf, hash))
			older, err := tlog.TreeHash(leaf+1, reader)
			check(err)
			consistent, err := tlog.ProveTree(tree.N, leaf+1, reader)
			check(err)
			check(tlog.CheckTree(consistent, tree.N, tree.Hash, leaf+1, older))
		}
	}
	fmt.Printf("%d leaves\n", leaf)
}
