//! Reports of a regression: text for the terminal, JUnit XML for CI servers, JSON with a schema, and an HTML
//! page.
//!
//! Reports use a [`Summary`](crate::report::summary::Summary), which is equal on all machines. Times come
//! from a separate [`Timing`](crate::run::timing::Timing).

mod cause;
pub mod command;
pub mod cover;
pub(crate) mod figures;
pub mod finish;
pub mod html;
pub mod json;
pub mod junit;
pub mod summarize;
pub mod summary;
pub mod text;
