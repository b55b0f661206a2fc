//! The program as a user meets it: one program of tests, so that what they share is compiled and linked once.

mod cli;
mod cuda;
mod emulator;
mod epilogue;
mod expect;
mod export;
mod map;
mod open;
mod ptx;
