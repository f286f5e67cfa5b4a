import Foundation

/// The growth of a call's cost with the number of items, as a power law.
///
/// The exponent is the slope of the least-squares line through the logarithms. It is 0 if the cost does not depend on
/// the number of items, and 1 if twice as many items cost twice as much.
struct GrowthFit: Equatable {

    /// The exponent.
    let exponent: Double

    /// The coefficient of determination, from 0 to 1; `nil` for two sizes, which any line fits.
    let determination: Double?

    /// Fits the exponent.
    ///
    /// - Parameter points: Numbers of items, with the cost at each.
    /// - Returns: `nil` if there are fewer than two different numbers, or if one of the values has no logarithm.
    init?(_ points: [(items: Int, cost: Double)]) {
        guard Set(points.map(\.items)).count >= 2, points.allSatisfy({ $0.items > 0 && $0.cost > 0 }) else {
            return nil
        }
        let x = points.map { log(Double($0.items)) }
        let y = points.map { log($0.cost) }
        let meanX = x.reduce(0, +) / Double(x.count)
        let meanY = y.reduce(0, +) / Double(y.count)
        let covariance = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) }
        let varianceX = x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
        let varianceY = y.reduce(0) { $0 + ($1 - meanY) * ($1 - meanY) }
        exponent = covariance / varianceX
        if points.count < 3 {
            determination = nil
        } else {
            // The fit explains a constant cost entirely.
            determination = varianceY == 0 ? 1 : covariance * covariance / (varianceX * varianceY)
        }
    }
}
