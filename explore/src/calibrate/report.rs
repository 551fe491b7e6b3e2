//! Text of a calibration: constants and residuals.

use std::fmt;

use super::calibration::{Calibration, FigureResidual, LawErrors};
use super::fit::counted;
use super::law::CostLaw;
use super::measurement::{FigureUse, Metric};

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = if self.about.is_empty() { String::new() } else { format!(" ({})", self.about) };
        writeln!(f, "{}{about}, unit {}", self.gpu, self.unit)?;
        if let Some(why) = &self.too_few {
            writeln!(f, "  no constants: {why}")?;
        }
        if !self.constants.is_empty() {
            writeln!(f, "  constant    value    error  mark fitted to; in {}", self.counted_in)?;
        }
        for one in &self.constants {
            let error = one.error.map_or("unknown".to_string(), |error| format!("+- {error:.2}"));
            let of = match &one.figures[..] {
                [alone] => format!("{alone} only, so unconfirmed"),
                several => counted(several.len(), "figure"),
            };
            writeln!(f, "  {:<9} {:>7.2} {error:>9} {:>3}   {of}", one.constant.name(), one.value, one.mark)?;
        }
        for doubt in &self.doubts {
            writeln!(f, "  {doubt}")?;
        }
        let head =
            format!("   # {:<23} {:<7} {:>10} {:>10}  error, %", "figure", "mark", "measured", "predicted");
        writeln!(f, "{}", line(head, CostLaw::ALL.iter().map(|law| Some(format!("{} ", law.name())))))?;
        for one in &self.residuals {
            row(f, one)?;
        }
        let figures = self.laws.first().map_or(0, |law| law.figures);
        if figures > 0 {
            let mean = |law: &LawErrors| law.mean_error.map(|error| format!("{error:.1}"));
            let within = |law: &LawErrors| law.mean_error.map(|_| law.within.to_string());
            let about = format!("mean absolute error of the {figures} figures that all laws predict");
            writeln!(f, "{}", line(format!("  {about:<63}"), self.laws.iter().map(mean)))?;
            writeln!(
                f,
                "{}",
                line(
                    format!("  {:<63}", "number of these figures within their tolerance"),
                    self.laws.iter().map(within)
                )
            )?;
        }
        Ok(())
    }
}

fn line(begin: String, columns: impl Iterator<Item = Option<String>>) -> String {
    let column = |column: Option<String>| format!("{:>9} ", column.unwrap_or_else(|| "-".to_string()));
    (begin + &columns.map(column).collect::<String>()).trim_end().to_string()
}

fn row(f: &mut fmt::Formatter<'_>, one: &FigureResidual) -> fmt::Result {
    let of = &one.of;
    let anchor = of.anchor.map_or("-".to_string(), |anchor| anchor.to_string());
    let unit = match (&of.baseline, of.metric) {
        (Some(_), _) => " x ",
        (None, Metric::Throughput) => " /c",
        (None, Metric::Latency | Metric::Passes) => "   ",
    };
    let measured = short(of.value) + unit;
    let mark = format!("{} {}", of.mark, of.confidence);
    let begin = format!("  {anchor:>2} {:<23} {mark:<7} {measured:>10} ", of.figure);
    if let (None, Some(why)) = (one.predicted[CostLaw::Unit as usize], &one.why_not) {
        return writeln!(f, "{begin}none: {why}");
    }
    let predicted = one.predicted[CostLaw::Unit as usize].map_or(String::new(), short);
    let error = |law| {
        // Adding 0.0 turns -0.0 into 0.0.
        let error = (10.0 * one.error(law)?).round() / 10.0 + 0.0;
        let beyond = if one.is_within(law) == Some(true) { " " } else { "*" };
        Some(format!("{error:+.1}{beyond}"))
    };
    let compared = if of.purpose == FigureUse::Compare { "compared" } else { "" };
    let errors = CostLaw::ALL.into_iter().map(error);
    writeln!(f, "{}", line(format!("{begin}{:>10} {compared:<9}", predicted + unit), errors))
}

/// Formats a number with four significant digits.
fn short(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else if value >= 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}
