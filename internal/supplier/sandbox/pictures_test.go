package sandbox_test

import (
	"bytes"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
	"unitask/internal/supplier/sandbox/media"
)

// TestBackgrounds draws in front of each background, and shows which format can't be transparent.
func TestBackgrounds(t *testing.T) {
	t.Parallel()
	for background, want := range map[string]uint32{"transparent": 0, "opaque": 0xffff, "auto": 0xffff} {
		r := request("image.generate", `{"prompt":"a fox"}`, `{"size":"64x64","format":"webp","background":"`+background+`"}`)
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		img, err := media.Decode(bytes.NewReader(ready(t, a, o).Files[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, alpha := img.At(0, 0).RGBA(); alpha != want {
			t.Errorf("%s: alpha %x in the corner, want %x", background, alpha, want)
		}
	}
	a := mustNew(t, "sandbox-a", instant)
	for format, refused := range map[string]bool{"jpeg": true, "png": false} {
		r := request("image.generate", `{"prompt":"a fox"}`, `{"background":"transparent","format":"`+format+`"}`)
		r.Model = sandbox.Cheap
		if why := supplier.Refuses(sandbox.Kind(), a, r); (why != "") != refused {
			t.Errorf("%s: %q", format, why)
		}
	}
}

// TestFidelity shows that an edit of high fidelity differs less from what was given.
func TestFidelity(t *testing.T) {
	t.Parallel()
	source := picture(t, 64, 64)
	given, err := media.Decode(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	distance := func(fidelity string) (sum int) {
		r := with(request("image.edit", `{"prompt":"all gold"}`, `{"input_fidelity":"`+fidelity+`"}`), "/images/0", source)
		a := mustNew(t, "sandbox-a", instant)
		o, err := a.Submit(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		img, err := media.Decode(bytes.NewReader(ready(t, a, o).Files[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range 40 {
			for x := range 64 {
				wantR, _, wantB, _ := given.At(x, y).RGBA()
				r, _, b, _ := img.At(x, y).RGBA()
				sum += max(int(r)-int(wantR), int(wantR)-int(r)) + max(int(b)-int(wantB), int(wantB)-int(b))
			}
		}
		return sum
	}
	if high, low := distance("high"), distance("low"); high >= low {
		t.Errorf("distance %d of high fidelity, %d of low", high, low)
	}
}
