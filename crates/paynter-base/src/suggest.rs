//! "Did you mean": the known name nearest to a misspelt one.

/// Finds the candidate with the smallest edit distance, if it is near enough
/// to be a likely mistake (a third of the letters, at least one). Letters that
/// differ only in case count half; ties go to the candidate that comes first. The
/// name itself is no help and never found.
pub fn closest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = wrong;
    let wrong: Vec<char> = wrong.chars().collect();
    let limit = 2 * (wrong.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate.chars().collect();
        if candidate == name || letters.len().abs_diff(wrong.len()) * 2 > limit {
            continue;
        }
        let distance = distance(&wrong, &letters);
        // Names without a letter in common are no misspellings of one another.
        let is_other = distance >= 2 * wrong.len().max(letters.len());
        if distance <= limit && !is_other && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// Damerau-Levenshtein distance in half steps: 2 for an edit or a swap of
/// neighbours, 1 for a change of case.
fn distance(a: &[char], b: &[char]) -> usize {
    let cost = |x: char, y: char| {
        if x == y {
            0
        } else if x.to_lowercase().eq(y.to_lowercase()) {
            1
        } else {
            2
        }
    };
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut above: Vec<usize> = (0..width).map(|j| 2 * j).collect();
    for i in 1..=a.len() {
        let mut row = vec![2 * i; width];
        for j in 1..width {
            let mut d = (above[j] + 2).min(row[j - 1] + 2).min(above[j - 1] + cost(a[i - 1], b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 2);
            }
            row[j] = d;
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_slips_and_rejects_strangers() {
        assert_eq!(closest("armatrue", ["shaft", "armature"]), Some("armature"));
        assert_eq!(closest("SE", ["Sf", "Se"]), Some("Se"));
        assert_eq!(closest("Rotor", ["rotor", "motor"]), Some("rotor"));
        assert_eq!(closest("winding", ["coil", "shaft"]), None);
        assert_eq!(closest("x", ["y"]), None);
        assert_eq!(closest("R", ["C", "Ra"]), Some("Ra"));
        assert_eq!(closest("y", ["y"]), None);
    }
}
