import BenchHarness
import Bodega
import CoderInputs
import BodegaTesting
import Crypto
import Foundation

extension Metrics {
    static let keys = [
        Metric("cachekey.init", baseline: "swift-crypto's MD5 of the same bytes", maximum: 4) { plan in
            try await cacheKeyInit(plan)
        }
    ]

    private static func cacheKeyInit(_ plan: Plan) async throws -> Outcome {
        // Strings of the length of a UUID, the most common identifier.
        let names = (0..<plan.size(100_000)).map { number in
            var random = SeededGenerator(seed: UInt64(number))
            return random.uuid().uuidString
        }
        let expected = names.map { hexadecimal(md5(of: $0)) }
        return try await compare(
            items: names.count,
            runs: plan.runs,
            ours: {
                let (time, values) = timed { names.map { CacheKey($0).value } }
                try verify(values.map { $0.replacing("-", with: "") }, equals: expected, "the values of the keys")
                return time
            },
            baseline: {
                let (time, digests) = timed { names.map(md5) }
                try verify(digests.map(hexadecimal), equals: expected, "the digests of the baseline")
                return time
            }
        )
    }

    private static func md5(of name: String) -> Insecure.MD5.Digest {
        var name = name
        return name.withUTF8 { bytes in
            var hash = Insecure.MD5()
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return hash.finalize()
        }
    }

    private static func hexadecimal(_ digest: Insecure.MD5.Digest) -> String {
        digest.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
