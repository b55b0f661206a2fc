//! Fused maps.
