//! Report of orders, as text and JSON.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::{OrderFinding, OrderKey, OrdersFound};
use crate::grouped;
use crate::kernel::finding::{KernelFault, KernelFinding};

fn count(orders: u64) -> String {
    format!("{} order{}", grouped(orders), if orders == 1 { "" } else { "s" })
}

#[derive(Serialize, JsonSchema)]
pub struct OrdersResult<'r> {
    /// False if an order has a finding.
    agree: bool,
    kernel: &'r str,
    arch: String,
    config: &'r str,
    orders: u64,
    distinct: u64,
    interrupted: bool,
    findings: Vec<OrderFindingResult>,
}

#[derive(Serialize, JsonSchema)]
pub struct OrderFindingResult {
    kind: &'static str,
    lines: Vec<u32>,
    what: String,
    orders: u64,
    /// Key for `--order`. Null for the default order.
    order: Option<String>,
    repeat: String,
}

impl<'k> OrdersFound<'k> {
    /// True if a finding is wrong. Undefined uses are, if `strict`.
    pub fn has_findings(&self, strict: bool) -> bool {
        self.findings.iter().any(|finding| strict || finding.finding.fault != KernelFault::Undefined)
    }

    pub fn findings(&self) -> impl Iterator<Item = &KernelFinding<'k>> {
        self.findings.iter().map(|order| &order.finding)
    }

    /// Formats the report. `repeat` returns the command that repeats an order.
    pub fn text(&self, repeat: impl Fn(Option<&OrderKey>) -> String) -> String {
        let mut text = String::new();
        let OrdersFound { kernel, config, orders, distinct, .. } = self;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} ({}) on model, configuration {}: {}, {} distinct{}",
            kernel.name,
            kernel.arch,
            config.name,
            count(*orders),
            grouped(*distinct),
            if self.interrupted { ", interrupted" } else { "" }
        );
        if self.findings.is_empty() {
            text.push_str("  findings   none\n");
        }
        if !self.checked {
            text.push_str("  result     not checked: the launch file states no result (`expect`, docs/launch-files.md)\n");
        }
        for OrderFinding { finding, orders, key } in &self.findings {
            let (kind, what) = (finding.fault.name(), finding.summary());
            let orders = match (key, count(*orders)) {
                (Some(_), orders) => orders,
                (None, _) if *orders == 0 => "the default order".into(),
                (None, orders) => format!("{orders} and in the default order"),
            };
            let _ = writeln!(text, "  finding    {kind}, in {orders}: {what}");
            let _ = writeln!(text, "    repeat   {}", repeat(key.as_ref()));
        }
        text
    }

    /// Returns the report as a JSON value. `repeat` returns the command that repeats an order.
    pub fn result(&self, strict: bool, repeat: impl Fn(Option<&OrderKey>) -> String) -> OrdersResult<'_> {
        OrdersResult {
            agree: !self.has_findings(strict),
            kernel: &self.kernel.name,
            arch: self.kernel.arch.to_string(),
            config: &self.config.name,
            orders: self.orders,
            distinct: self.distinct,
            interrupted: self.interrupted,
            findings: Vec::from_iter(self.findings.iter().map(|finding| OrderFindingResult {
                kind: finding.finding.fault.name(),
                lines: finding.finding.place().lines,
                what: finding.finding.summary(),
                orders: finding.orders,
                order: finding.key.as_ref().map(OrderKey::to_string),
                repeat: repeat(finding.key.as_ref()),
            })),
        }
    }
}
