/// A power of ten with an exponent from 0 to 22. These powers are exact as `Double`.
@inline(__always)
func powerOfTen(_ exponent: Int) -> Double {
    // In bounds: the table has the exponents 0 to 22.
    powersOfTen[exponent]
}

private let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]
