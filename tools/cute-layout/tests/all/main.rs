//! The program as a user meets it: one program of tests, so that what they share is compiled and linked once.

mod bad_input;
mod common;
mod docs;
mod drawn;
mod eval;
mod functions;
mod hopper;
mod ir;
mod pictures;
mod symbolic;
