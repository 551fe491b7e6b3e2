//! What people and other programs read of a regression: a summary for the terminal, JUnit XML for the
//! server that runs it, JSON with a schema, and a page for the browser.
//!
//! All of them are made of a [`Summary`](crate::report::summary::Summary), which is the same on any machine,
//! and of a [`Timing`](crate::run::timing::Timing) where they say that times follow.

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
