//! The dialect's ops as one function: every op on static, dynamic, nested, basis and composed operands, at both widths;
//! what is refused; against brute force; and traced, with the values put in.

mod brute;
mod runner;
mod tables;
mod traced;
