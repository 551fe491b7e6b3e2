//! Finds the memory of each bank in the generated C++. Its name depends on inlining, so headers are searched.

use std::path::Path;

pub(crate) struct BankNames {
    pub(crate) includes: Vec<String>,
    pub(crate) memories: Vec<String>,
}

pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) text: String,
}

pub(crate) fn headers(dir: &Path) -> std::io::Result<Vec<Header>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "h") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push(Header { name, text: fs_err::read_to_string(&path)? });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Finds `g_bank[b].u_bank.mem_q` for each bank of the model class `model`.
///
/// # Errors
/// The lowest bank without such a memory.
pub(crate) fn find(headers: &[Header], model: &str, banks: usize) -> Result<BankNames, usize> {
    let mut names = BankNames { includes: Vec::new(), memories: Vec::new() };
    for bank in 0..banks {
        let (include, memory) = find_bank(headers, model, bank).ok_or(bank)?;
        if !names.includes.contains(&include) {
            names.includes.push(include);
        }
        names.memories.push(memory);
    }
    Ok(names)
}

fn find_bank(headers: &[Header], model: &str, bank: usize) -> Option<(String, String)> {
    let instance = format!("g_bank__BRA__{bank}__KET____DOT__u_bank");
    // If the module is inlined, the memory is a variable of the root.
    let root = headers.iter().find(|header| header.name == format!("{model}___024root.h"))?;
    if let Some(variable) = declared(&root.text, &format!("{instance}__DOT__mem_q")) {
        return Some((root.name.clone(), format!("m.rootp->{variable}")));
    }
    // If not, the model points to the instance, whose class has the variable.
    let top = headers.iter().find(|header| header.name == format!("{model}.h"))?;
    let pointer = declared(&top.text, &instance)?;
    let line = top.text.lines().find(|line| line.contains(&format!("{pointer};")))?;
    let class = line.split('*').next()?.trim();
    let header = headers.iter().find(|header| header.name == format!("{class}.h"))?;
    let variable = declared(&header.text, "mem_q")?;
    Some((header.name.clone(), format!("m.{pointer}->{variable}")))
}

/// Returns the identifier declared in `text` that is `suffix` or ends in a Verilator separator and `suffix`.
fn declared<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let end = format!("{suffix};");
    text.match_indices(&end).find_map(|(at, _)| {
        let start =
            text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |before| before + 1);
        let prefix = &text[start..at];
        let whole = prefix.is_empty() || prefix.ends_with("__DOT__") || prefix.ends_with("__PVT__");
        whole.then(|| &text[start..at + suffix.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, text: &str) -> Header {
        Header { name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_inlined_bank_is_a_variable_of_the_root() {
        let headers = [header(
            "Vtop___024root.h",
            "IData/*31:0*/ top__DOT____Vcellout__g_bank__BRA__0__KET____DOT__u_bank__q_o;\n\
             VlUnpacked<IData/*31:0*/, 384> top__DOT__g_bank__BRA__0__KET____DOT__u_bank__DOT__mem_q;\n",
        )];
        let names = find(&headers, "Vtop", 1).unwrap();
        assert_eq!(names.includes, ["Vtop___024root.h"]);
        assert_eq!(names.memories, ["m.rootp->top__DOT__g_bank__BRA__0__KET____DOT__u_bank__DOT__mem_q"]);
        assert_eq!(find(&headers, "Vtop", 2).err(), Some(1));
    }

    #[test]
    fn a_bank_of_its_own_class_is_reached_through_the_model() {
        let headers = [
            header("Vtop.h", "Vtop_atoms_bank* const __PVT__top__DOT__g_bank__BRA__0__KET____DOT__u_bank;"),
            header("Vtop___024root.h", ""),
            header("Vtop_atoms_bank.h", "    VlUnpacked<IData/*31:0*/, 384> mem_q;"),
        ];
        let names = find(&headers, "Vtop", 1).unwrap();
        assert_eq!(names.includes, ["Vtop_atoms_bank.h"]);
        assert_eq!(names.memories, ["m.__PVT__top__DOT__g_bank__BRA__0__KET____DOT__u_bank->mem_q"]);
    }
}
