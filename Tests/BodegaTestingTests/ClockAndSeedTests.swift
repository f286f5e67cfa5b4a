import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `Clocks and seeds` {

    @Test func `A manual clock advances only when told to`() {
        let clock = ManualClock(startingAt: Date(timeIntervalSince1970: 100))
        let now = clock.now
        #expect(now() == Date(timeIntervalSince1970: 100))
        clock.advance(by: 2.5)
        #expect(now() == Date(timeIntervalSince1970: 102.5))
        clock.set(to: Date(timeIntervalSince1970: 7))
        #expect(now() == clock.current && now() == Date(timeIntervalSince1970: 7))
    }

    @Test func `SplitMix64 gives the numbers of its reference implementation`() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(
            (0..<5).map { _ in generator.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }
}
