//! Tests of reports: text, JUnit XML, JSON, and the page in a browser.

mod fixture;
mod json;
mod junit;
mod page;
mod text;
