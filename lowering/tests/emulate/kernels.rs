//! Kernels that are no products.
