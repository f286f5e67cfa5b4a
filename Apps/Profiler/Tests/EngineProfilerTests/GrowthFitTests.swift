import Foundation
import Testing

@testable import EngineProfiler

@Suite struct GrowthFitTests {

    @Test(arguments: [0, 0.5, 1, 2, -0.3])
    func `The exponent of a power is found`(exponent: Double) throws {
        let points = [1000, 10_000, 50_000, 100_000].map { (items: $0, cost: 7.5 * pow(Double($0), exponent)) }
        let fit = try #require(GrowthFit(points))
        #expect(abs(fit.exponent - exponent) < 1e-9)
        #expect(abs(try #require(fit.determination) - 1) < 1e-9)
    }

    @Test func `Symmetric noise does not change the exponent, but lowers the determination`() throws {
        let points = [(items: 10, cost: 12.0), (items: 100, cost: 80.0), (items: 1000, cost: 1200.0)]
        let fit = try #require(GrowthFit(points))
        // Symmetric around the middle, so the slope is that of the line through the two ends.
        #expect(abs(fit.exponent - 1) < 1e-9)
        let determination = try #require(fit.determination)
        #expect(determination < 1 && determination > 0.9)
    }

    @Test func `Two sizes give an exponent, but no determination`() throws {
        let fit = try #require(GrowthFit([(10, 1), (1000, 100)]))
        #expect(abs(fit.exponent - 1) < 1e-9)
        #expect(fit.determination == nil)
    }

    @Test func `There is no fit for one size or for a cost of zero`() {
        #expect(GrowthFit([]) == nil)
        #expect(GrowthFit([(10, 1)]) == nil)
        #expect(GrowthFit([(10, 1), (10, 2)]) == nil)
        #expect(GrowthFit([(10, 0), (100, 2)]) == nil)
    }

    @Test func `The growth is that of a call for operations on all items, and of an item for batches`() throws {
        let few = [
            Sample.measurement("read-all", itemsPerCall: 100, slices: [[1000]]),
            Sample.measurement("read-batch", itemsPerCall: 10, slices: [[500]]),
        ]
        let many = [
            Sample.measurement("read-all", itemsPerCall: 1000, slices: [[10_000]]),
            Sample.measurement("read-batch", itemsPerCall: 100, slices: [[5000]]),
        ]
        let engine = Sample.engine("a", [100: few, 1000: many])
        #expect(abs(try #require(engine.growth(of: "read-all")).exponent - 1) < 0.01)
        #expect(abs(try #require(engine.growth(of: "read-batch")).exponent) < 0.01)
    }
}
