//! The interface of the CUDA runtime (`libcudart.so`, versions 12 and 13) over the emulator: a CUDA program runs without a GPU, and what
//! its kernels do wrong is found.
//!
//! `cute-run --cuda PROGRAM` loads this library into the program before any CUDA runtime. Kernels are the PTX in the program's fat
//! binaries. Everything that a program asks for happens before the call returns, in the order of the calls: a legal order of what streams
//! leave open. What a stream is asked for while it is captured becomes a graph instead. Functions of the interface that are not here
//! return `cudaErrorNotSupported` and say so.
//!
//! Declarations are those of NVIDIA's "CUDA Runtime API" reference; the numbers of errors and attributes are its enumerations'.

#![allow(non_snake_case, reason = "the names are those of the CUDA runtime")]

mod abi;
mod calls;
mod capture;
mod copies;
mod device;
mod edges;
mod error;
mod events;
mod execs;
mod fatbin;
mod graphs;
mod launches;
mod managed;
mod memory;
mod node_params;
mod nodes;
mod per_thread;
mod pools;
mod program;
mod registered;
mod settings;
mod streams;
mod transfers;
mod unsupported;
mod version;
mod work;

pub(crate) use error::Error;
