// Reads patterns that cloop accepted, one a line, and says what RE2 makes of them: each must
// compile, and whatever string it matches anywhere it must match from first byte to last. Strings
// come from walking the pattern, alone and with other text before and behind.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
)

const tries = 12

func pick(r *rand.Rand, ranges []rune) rune {
	i := r.Intn(len(ranges)/2) * 2
	low, high := ranges[i], ranges[i+1]
	if high > 0x7e {
		high = 0x7e
	}
	if low < 0x21 && high >= 0x21 {
		low = 0x21
	}
	if low > high || high < 0x20 {
		return low
	}
	return low + rune(r.Intn(int(high-low)+1))
}

func generate(r *rand.Rand, re *syntax.Regexp, out *strings.Builder) {
	times := func(low, high int) {
		for n := low + r.Intn(high-low+1); n > 0 && out.Len() < 4096; n-- {
			generate(r, re.Sub[0], out)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			out.WriteRune(pick(r, re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteRune(rune(0x21 + r.Intn(0x5e)))
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 3)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		high := re.Max
		if high < 0 {
			high = re.Min + 2
		}
		times(re.Min, high)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			generate(r, sub, out)
		}
	case syntax.OpAlternate:
		generate(r, re.Sub[r.Intn(len(re.Sub))], out)
	}
}

func judge(r *rand.Rand, pattern string) error {
	loose, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	whole := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
	tree, _ := syntax.Parse(pattern, syntax.Perl)
	matched := false
	for i := 0; i < tries; i++ {
		var text strings.Builder
		generate(r, tree, &text)
		s := text.String()
		for _, candidate := range []string{s, "x" + s, s + "x", "https://evil/" + s + "/evil", s + s} {
			if loose.MatchString(candidate) {
				matched = true
				if !whole.MatchString(candidate) {
					return fmt.Errorf("matches inside of %q", candidate)
				}
			}
		}
	}
	if !matched {
		return fmt.Errorf("nothing matches: the generator is at fault")
	}
	return nil
}

func main() {
	r := rand.New(rand.NewSource(1))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	n, bad := 0, 0
	for lines.Scan() {
		n++
		if err := judge(r, lines.Text()); err != nil {
			bad++
			fmt.Printf("%q: %v\n", lines.Text(), err)
		}
	}
	fmt.Printf("%d patterns, %d bad\n", n, bad)
	if bad > 0 {
		os.Exit(1)
	}
}
