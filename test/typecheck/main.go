// Command typecheck looks for errors of types in the code and its tests as other systems compile them. It takes their
// names:
//
//	go run ./test/typecheck darwin windows
//
// It reads the source of every dependency without its functions' bodies, which takes seconds; a compiler takes minutes.
package main

import (
	"fmt"
	"log"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: typecheck GOOS…")
	}
	failed := false
	for _, system := range os.Args[1:] {
		all, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
			Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system),
			Tests: true,
		}, "./...")
		if err != nil {
			log.Fatal(err)
		}
		failed = packages.PrintErrors(all) > 0 || failed
		fmt.Printf("%s: %d packages and tests\n", system, len(all))
	}
	if failed {
		os.Exit(1)
	}
}
