// RUN: cute-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @inside(%n: index) kernel {
    // expected-error @below {{'cute.candidates' op is for the host function that launches; expected it outside of kernels}}
    %a = cute.candidates of(%n, %n, %n, %n) plans ["a"] problems ["f16"] generation 1 take(%n)
    gpu.return
  }
}

// -----

func.func @none(%n: index) {
  // expected-error @below {{expected a plan at least, and a problem and a time for each, found 0 plans, 0 problems and 0 times}}
  %a = cute.candidates of(%n, %n, %n, %n) plans [] problems [] generation 1 take()
  return
}

// -----

func.func @times(%n: index) {
  // expected-error @below {{and a problem and a time for each, found 2 plans, 2 problems and 1 times}}
  %a = cute.candidates of(%n, %n, %n, %n) plans ["a", "b"] problems ["f16", "f16"] generation 1 take(%n)
  return
}

// -----

func.func @twice(%n: index) {
  // expected-error @below {{expected each plan of a problem once, found "a" of "f16" twice}}
  %a = cute.candidates of(%n, %n, %n, %n) plans ["a", "a"] problems ["f16", "f16"] generation 1 take(%n, %n)
  return
}

// -----

func.func @range(%n: index) {
  // expected-error @below {{expected in left_out numbers of plans, from 0 to 0, each once, found 1}}
  %a = cute.candidates of(%n, %n, %n, %n) plans ["a"] problems ["f16"] generation 1 take(%n) {left_out = array<i64: 1>}
  return
}

// -----

func.func @all(%n: index) {
  // expected-error @below {{expected a plan that is not left out, found none}}
  %a = cute.candidates of(%n, %n, %n, %n) plans ["a", "b"] problems ["f16", "f16"] generation 1 take(%n, %n) {left_out = array<i64: 1, 0>}
  return
}
