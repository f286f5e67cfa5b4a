import BodegaTesting
import Foundation

/// Writes a line immediately, even to a pipe or a file, for which `print` buffers output and loses it in a crash.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// A fuzzing run over many documents.
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

    /// The statistics of the run.
    var summary: String {
        "\(tried) documents, \(decodings) decodings, of which \(values) gave a value; \(skipped) documents skipped"
    }

    /// Tests one document after another.
    ///
    /// - Returns: A report of the first difference, if there is one.
    func run() -> String? {
        CrashReport.install(seed: options.seed)
        for number in options.first..<options.first + options.mutations {
            CrashReport.document = number
            // Each document depends only on its number, so that it can be reproduced without the previous ones.
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

    /// Shrinks a document while a condition holds.
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
    /// Foundation crashes if a document ends with the bracket of an array that is nested one level too deep, because it
    /// searches for the position of the error past the end (swift-foundation of Swift 6.3). This condition covers a few
    /// more documents.
    private func crashesFoundation(_ json: Data) -> Bool {
        guard json.last(where: { $0 != 0 }) == UInt8(ascii: "[") else { return false }
        return json.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } > 512
    }
}
