//! What the unit would cost and give if it were built otherwise.

#![forbid(unsafe_code)]
