import Foundation

/// How the cost of a call grows with the number of items: as a power of it.
///
/// The exponent is the slope of the straight line through the logarithms that has the least squares of distances. It
/// is 0 if the cost does not depend on the number, and 1 if twice as many items cost twice as much.
struct GrowthFit: Equatable {

    /// The power.
    let exponent: Double

    /// How much of the differences in cost the fit explains, from 0 to 1; `nil` for two sizes, which any line fits.
    let determination: Double?

    /// Fits the exponent.
    ///
    /// - Parameter points: Numbers of items and the cost with each.
    /// - Returns: `nil` if there are fewer than two different numbers, or one that has no logarithm.
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
            // A constant cost is explained entirely.
            determination = varianceY == 0 ? 1 : covariance * covariance / (varianceX * varianceY)
        }
    }
}
