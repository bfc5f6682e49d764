//! Characteristic polynomials over prime fields, by reduction to Hessenberg
//! form.

use paynter_algebra::field::PrimeField;

/// The coefficients of det(sI − M), lowest power first, of a square matrix given row by row.
pub(super) fn characteristic(field: PrimeField, mut m: Vec<Vec<u64>>) -> Vec<u64> {
    let n = m.len();
    hessenberg(field, &mut m);
    let one = field.one();
    // p_k(s) = (s − m[k−1][k−1]) p_{k−1} − Σ m[k−1−i][k−1] Π subdiagonals p_{k−1−i}
    let mut polynomials: Vec<Vec<u64>> = vec![vec![one]];
    for k in 1..=n {
        let mut next = vec![0; k + 1];
        let diagonal = m[k - 1][k - 1];
        for (power, &c) in polynomials[k - 1].iter().enumerate() {
            next[power + 1] = field.add(next[power + 1], c);
            next[power] = field.sub(next[power], field.mul(diagonal, c));
        }
        let mut product = one;
        for i in 1..k {
            product = field.mul(product, m[k - i][k - i - 1]);
            if product == 0 {
                break;
            }
            let factor = field.mul(product, m[k - i - 1][k - 1]);
            for (power, &c) in polynomials[k - i - 1].iter().enumerate() {
                next[power] = field.sub(next[power], field.mul(factor, c));
            }
        }
        polynomials.push(next);
    }
    polynomials.pop().unwrap_or_default()
}

/// Reduces to Hessenberg form by similarity.
fn hessenberg(field: PrimeField, m: &mut [Vec<u64>]) {
    let n = m.len();
    for k in 1..n.saturating_sub(1) {
        let Some(pivot) = (k..n).find(|&i| m[i][k - 1] != 0) else { continue };
        if pivot != k {
            m.swap(pivot, k);
            for row in m.iter_mut() {
                row.swap(pivot, k);
            }
        }
        let inverse = field.inv(m[k][k - 1]);
        for i in k + 1..n {
            if m[i][k - 1] == 0 {
                continue;
            }
            let factor = field.mul(m[i][k - 1], inverse);
            let (above, below) = m.split_at_mut(i);
            for j in k - 1..n {
                below[0][j] = field.sub(below[0][j], field.mul(factor, above[k][j]));
            }
            for row in m.iter_mut() {
                row[k] = field.add(row[k], field.mul(factor, row[i]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_algebra::field::FIELD;

    #[test]
    fn the_characteristic_polynomial_of_a_companion_matrix_is_known() {
        let prime = FIELD.prime();
        // s³ + 2s² + 3s + 4
        let rows = [[0, 1, 0], [0, 0, 1], [prime - 4, prime - 3, prime - 2]];
        let m = rows.iter().map(|row| row.iter().map(|&x| FIELD.enter(x)).collect()).collect();
        let found: Vec<u64> = characteristic(FIELD, m).into_iter().map(|c| FIELD.leave(c)).collect();
        assert_eq!(found, [4, 3, 2, 1]);
    }
}
