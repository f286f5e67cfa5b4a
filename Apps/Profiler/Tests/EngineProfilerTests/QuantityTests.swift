import Bodega
import Testing

@testable import EngineProfiler

@Suite struct QuantityTests {

    @Test(arguments: [
        (0.0, "0 ns"), (1, "1 ns"), (42.4, "42.4 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"), (4210, "4.21 µs"),
        (10_000, "10 µs"), (123_456_000, "123 ms"), (2_500_000_000, "2.50 s"),
    ])
    func `Times have three digits`(nanoseconds: Double, text: String) {
        #expect(Quantity.time(nanoseconds) == text)
    }

    @Test(arguments: [(0.0, "0 B"), (373, "373 B"), (4096, "4.10 kB"), (48_600_000, "48.6 MB"), (-2000, "−2 kB")])
    func `Bytes have three digits`(bytes: Double, text: String) {
        #expect(Quantity.bytes(bytes) == text)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "−1,000")])
    func `Thousands are separated`(number: Int, text: String) {
        #expect(Quantity.whole(number) == text)
    }

    @Test(arguments: [("1k", 1000), ("10K", 10_000), ("2M", 2_000_000), ("7", 7)])
    func `Numbers can be abbreviated`(text: String, number: Int) {
        #expect(Count(part: text)?.number == number)
    }

    @Test(arguments: ["", "k", "-1", "0", "1.5k", "1x", "99999999999999999999", "9999999999999999M"])
    func `Anything but a positive number is refused`(text: String) {
        #expect(Count(part: text) == nil)
    }

    @Test(arguments: [("0.5", 500), ("2s", 2000), ("200ms", 200)])
    func `Times can be written with a unit`(text: String, milliseconds: Int) {
        #expect(Seconds(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "0", "-1", "nan", "inf", "ms", "1h", "1e30"])
    func `Anything but a positive time is refused`(text: String) {
        #expect(Seconds(argument: text) == nil)
    }

    @Test func `Lists drop duplicates and refuse empty elements`() {
        #expect(List<Count>(argument: "1k, 5,1000")?.elements.map(\.number) == [1000, 5])
        #expect(List<Count>(argument: "1k,,5") == nil)
        #expect(List<EngineProfiler.Operation>(argument: "read,nothing") == nil)
    }
}
