//! Hand-written defects that RTL and model could share. Each replaces one expression of the RTL.

use std::ops::Range;

use crate::mutate::MutateError;

/// Defect that the oracle must notice without the model.
#[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Planted {
    pub about: String,
    /// Clause of the specification that the defect breaks, such as `6.10`.
    pub clause: String,
    pub file: String,
    /// Text before the expression, needed if the expression alone is not unique.
    #[serde(default)]
    pub before: String,
    /// Expression to replace. With the text before it, it must occur exactly once in the source.
    pub text: String,
    pub with: String,
}

impl Planted {
    /// Returns the byte range of the expression in `source`.
    ///
    /// # Errors
    /// [`MutateError::Planted`] unless the text occurs exactly once.
    pub fn place(&self, source: &str) -> Result<Range<usize>, MutateError> {
        let whole = format!("{}{}", self.before, self.text);
        let mut places = source.match_indices(&whole).map(|(at, _)| at + self.before.len());
        match (places.next(), places.count()) {
            (Some(start), 0) => Ok(start..start + self.text.len()),
            (first, more) => {
                let count = usize::from(first.is_some()) + more;
                Err(MutateError::Planted(self.file.clone(), count, self.about.clone()))
            }
        }
    }
}
