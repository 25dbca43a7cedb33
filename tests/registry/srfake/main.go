// srfake runs franz-go's fake schema registry, which nobody of this project wrote, on a free port of the loopback. It
// prints its address, and ends when its standard input does.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

func main() {
	registry := srfake.New()
	defer registry.Close()
	fmt.Println(registry.URL())
	io.Copy(io.Discard, os.Stdin)
}
