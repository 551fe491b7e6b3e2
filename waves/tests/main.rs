//! Waves: writers, reader, comparison, search and export.

mod damaged;
mod diff;
mod export;
mod gtkwave;
mod layout;
mod page;
mod query;
mod read_back;
mod reader;
mod show;
