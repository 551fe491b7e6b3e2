//! What people and other programs read of a regression: a summary for the terminal, JUnit XML for the
//! server that runs it, JSON with a schema, and a page for the browser.
//!
//! All of them are made of a [`Summary`](crate::summary::Summary), which is the same on any machine,
//! and of a [`Timing`](crate::summary::Timing) where they say that times follow.

pub mod command;
pub(crate) mod figures;
pub mod html;
pub mod json;
pub mod junit;
pub mod text;
