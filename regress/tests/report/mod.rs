//! Reports: the text at 80 columns, JUnit XML, JSON against its schema, and the page in a browser.

mod fixture;
mod json;
mod junit;
mod page;
mod text;
