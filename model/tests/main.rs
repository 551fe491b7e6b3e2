//! The model beside the RTL package, and its diagnoses.

mod diagnoses;
mod mirrors;
mod package;
