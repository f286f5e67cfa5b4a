import BodegaTesting
import Foundation
import RecordCoderOracle

/// Writes a line at once, also into a pipe or a file, where `print` would keep it and lose it in a crash.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// A run over many documents.
final class Campaign {
    private let options: Options
    private let subjects = Corpus.subjects()
    private let targets = Target.all()
    private var tried = 0
    private var decodings = 0
    private var values = 0
    private var skipped = 0

    init(_ options: Options) {
        self.options = options
    }

    /// How much was done.
    var summary: String {
        "\(tried) documents, \(decodings) decodings, of which \(values) gave a value; \(skipped) documents not tried"
    }

    /// Tries one document after the other.
    ///
    /// - Returns: What to print about the first difference, if there is one.
    func run() -> String? {
        CrashReport.install(seed: options.seed)
        for number in options.first..<options.first + options.mutations {
            CrashReport.document = number
            // Each document follows from its own number, so that one can be repeated without those before it.
            var random = SeededGenerator(seed: options.seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
            let subject = subjects[Int(random.next() % UInt64(subjects.count))]
            let json = Mutator.document(from: subject, of: subjects, &random)
            guard !crashesFoundation(json) else {
                skipped += 1
                continue
            }
            tried += 1
            let others = (0..<2).map { _ in targets[Int(random.next() % UInt64(targets.count))] }
            for target in subject.isAlone ? [subject.target] : [subject.target] + others {
                decodings += 1
                switch target.compare(json) {
                case .same(let hasValue): values += hasValue ? 1 : 0
                case .different: return report(target, json, number)
                }
            }
            if tried.isMultiple(of: 100_000) { say(summary) }
        }
        return nil
    }

    private func report(_ target: Target, _ json: Data, _ number: Int) -> String {
        let reduced = reduce(json) { if case .different = target.compare($0) { true } else { false } }
        var report = "DIFFERENCE in document \(number): --seed \(options.seed) --first \(number) --mutations 1\n"
        for json in [json, reduced] {
            if case .different(let difference) = target.compare(json) { report += "\(difference)\n" }
        }
        return report
    }

    /// Leaves out what it can without making a document uninteresting.
    private func reduce(_ json: Data, while isInteresting: (Data) -> Bool) -> Data {
        var json = json
        var size = max(1, json.count / 2)
        while size > 0 {
            var start = 0
            while start < json.count {
                let candidate = json.prefix(start) + json.dropFirst(start + size)
                if !crashesFoundation(candidate), isInteresting(Data(candidate)) {
                    json = Data(candidate)
                } else {
                    start += size
                }
            }
            size /= 2
        }
        return json
    }

    /// Whether Foundation could crash.
    ///
    /// It does so when a document ends with the bracket of an array that is nested one level too deep: it looks for the
    /// place of the error behind the end. (swift-foundation of Swift 6.3.) This is true of a few more documents.
    private func crashesFoundation(_ json: Data) -> Bool {
        guard json.last(where: { $0 != 0 }) == UInt8(ascii: "[") else { return false }
        return json.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } > 512
    }
}
