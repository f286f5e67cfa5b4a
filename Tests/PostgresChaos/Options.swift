#if Postgres
import BodegaTesting

/// The options of the command line.
struct Options {
    /// The number of faults.
    var rounds = 20
    /// The seed of the faults' order and moments.
    var seed = UInt64.random(in: 0 ... .max)
    /// The number of writing processes.
    var processes = 3
    /// The folder for the log of changes, which is written after each fault once there was a violation.
    var logs: String?
    var cluster = true
    var bouncer = true

    /// Parses arguments.
    ///
    /// - Throws: A ``Misuse`` if they are invalid.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func number<Number: FixedWidthInteger>(_ option: String) throws -> Number {
            guard let text = rest.popFirst(), let number = Number(text), number > 0 else {
                throw Misuse(description: "\(option) takes a number above 0.")
            }
            return number
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--rounds": rounds = try number(argument)
            case "--processes": processes = try number(argument)
            case "--seed": seed = try number(argument)
            case "--logs":
                logs = rest.popFirst()
                if logs == nil { throw Misuse(description: "--logs takes a folder.") }
            case "--only":
                switch rest.popFirst() {
                case "cluster": bouncer = false
                case "bouncer": cluster = false
                default: throw Misuse(description: "--only takes \"cluster\" or \"bouncer\".")
                }
            default: throw Misuse(description: "unknown option \"\(argument)\".")
            }
        }
    }

    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }
}
#endif
