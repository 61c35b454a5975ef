package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
)

// TestNotice holds that NOTICE names all that the command contains.
func TestNotice(t *testing.T) {
	t.Chdir("../..")
	all, err := components()
	if errors.Is(err, errFetch) {
		t.Skipf("modules of other platforms are needed: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, written(all)) {
		t.Error("NOTICE is out of date: run 'go run ./scripts/notice'")
	}
}

// TestTidy states that texts in Latin-1 become UTF-8, and those in UTF-8 stay.
func TestTidy(t *testing.T) {
	for _, text := range []string{"copyright \xa9 1996 \r\n", "copyright © 1996\n\n"} {
		if got := tidy(text); got != "copyright © 1996\n" {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestLicences states which licences texts are taken for.
func TestLicences(t *testing.T) {
	bsd := "Redistribution and use in source\nand binary forms, with or without modification"
	for text, want := range map[string][]string{
		bsd: {"BSD-2-Clause"},
		bsd + " ... Neither the name of the author":                                                       {"BSD-3-Clause"},
		"Permission is hereby granted, free of charge, to any\n person obtaining a copy of this software": {"MIT"},
		"GNU General Public License":                                                                      nil,
	} {
		if got := licences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
