import Foundation
import SyncSimulation

var seeds = 1_000
var (first, only): (UInt64, UInt64?) = (1, nil)
var options = SimulationOptions(seed: 0)
var triesDefects = false
var variesClients = true

func misused(_ text: String) -> Never {
    FileHandle.standardError.write(Data("\(text) See bin/simulate --help.\n".utf8))
    exit(64)
}

func number<Value: FixedWidthInteger>(_ text: String, _ option: String) -> Value {
    guard let number = Value(text) else { misused("\(option) takes a number.") }
    return number
}

var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
    if option == "--defects" {
        triesDefects = true
        continue
    }
    guard let value = arguments.popFirst() else { misused("\(option) takes a value.") }
    switch option {
    case "--seeds": seeds = number(value, option)
    case "--first": first = number(value, option)
    case "--seed": only = number(value, option)
    case "--clients": (options.clients, variesClients) = (max(number(value, option), 1), false)
    case "--operations": (options.operations, variesClients) = (number(value, option), false)
    case "--faults":
        options.faults = Set(
            value.split(separator: ",").map { name in
                guard let fault = SimulationOptions.Fault(rawValue: String(name)) else {
                    misused("There is no fault \"\(name)\".")
                }
                return fault
            })
    case "--defect":
        guard let defect = Defect(rawValue: value) else { misused("There is no defect \"\(value)\".") }
        options.defect = defect
    case "--trace": options.traced = value
    default: misused("\"\(option)\" is not an option.")
    }
}

let numbers = only.map { [$0] } ?? (0..<seeds).map { first &+ UInt64($0) }

if triesDefects {
    var isMissing = false
    for defect in Defect.allCases {
        // The one that is known to find it, and then others, in case the rules have changed since.
        let example = defect.example
        var found = Simulation(example).run().first.map { "bin/simulate \(example): \($0)" }
        options.defect = defect
        for number in numbers where found == nil {
            options.seed = number
            if let violation = Simulation(options).run().first { found = "bin/simulate \(options): \(violation)" }
        }
        isMissing = isMissing || found == nil
        print("\(defect.rawValue): \(found ?? "not found")")
    }
    exit(isMissing ? 1 : 0)
}

var failures = 0
for (count, number) in numbers.enumerated() {
    if count > 0, count % 10_000 == 0 { FileHandle.standardError.write(Data("\(count) seeds…\n".utf8)) }
    options.seed = number
    if variesClients {
        // The changes of others wake a client up, which can hide that it has missed something.
        (options.clients, options.operations) = number % 4 == 0 ? (1, 5) : (3, 40)
    }
    if Simulation(options).run().isEmpty { continue }
    failures += 1
    // Others of the same cause would only take time.
    if failures > 3 { continue }
    let shrunk = options.traced == nil ? options.shrunk() : options
    print("bin/simulate \(shrunk)")
    for violation in Simulation(shrunk).run() { print("  \(violation)") }
}
print("\(numbers.count) seeds, \(failures) failures")
exit(failures == 0 ? 0 : 1)
