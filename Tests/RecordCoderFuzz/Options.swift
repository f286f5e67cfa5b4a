/// The options of the command line.
struct Options {

    /// A wrong command line.
    struct Misuse: Error {
        var message: String
    }

    static let help = """
        Changes JSON documents at random and compares what the record coder and Foundation make of them.

        Usage: RecordCoderFuzz [--mutations N] [--seed S] [--first I]

          --mutations N   how many documents to try (default: 100,000)
          --seed S        what all of them follow from (default: a new one, which is printed)
          --first I       the number of the first document (default: 0), to repeat one
          --help          shows this

        The exit code is 0 if there is no difference, 1 if there is one, which is then printed, 64 for a wrong command
        line. If a coder crashes, the number of the document is printed. Set SWIFT_DETERMINISTIC_HASHING=1: of several
        errors in one object Foundation reports any.
        """

    var mutations = 100_000
    var seed = UInt64.random(in: 0...UInt64.max)
    var first = 0
    var wantsHelp = false

    /// Parses a command line.
    ///
    /// - Throws: A ``Misuse``.
    init(_ arguments: some Sequence<String>) throws {
        var arguments = arguments.makeIterator()
        while let name = arguments.next() {
            switch name {
            case "--mutations": mutations = try Self.number(arguments.next(), of: name)
            case "--seed": seed = try Self.number(arguments.next(), of: name)
            case "--first": first = try Self.number(arguments.next(), of: name)
            case "--help", "-h": wantsHelp = true
            default: throw Misuse(message: "unknown option \"\(name)\".")
            }
        }
    }

    private static func number<Number: FixedWidthInteger>(_ text: String?, of name: String) throws -> Number {
        guard let number = text.flatMap({ Number($0) }), number >= 0 else {
            throw Misuse(message: "\(name) takes a number.")
        }
        return number
    }
}
