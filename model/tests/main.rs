//! Tests of the diagnoses, of the mirrored RTL and of the parameter package.

mod diagnoses;
mod mirrors;
mod package;
