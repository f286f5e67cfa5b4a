// swift-tools-version: 6.2

import PackageDescription

/// Combine for platforms other than Apple's.
let openCombine = Target.Dependency.product(
    name: "OpenCombine",
    package: "OpenCombine",
    condition: .when(platforms: [.linux, .android, .windows, .openbsd, .wasi])
)

let package = Package(
    name: "Emporium",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "Bodega", targets: ["Bodega"]),
        .library(name: "BodegaHTTP", targets: ["BodegaHTTP"]),
        .library(name: "BodegaPostgres", targets: ["BodegaPostgres"]),
        .library(name: "BodegaRemote", targets: ["BodegaRemote"]),
        .library(name: "BodegaServer", targets: ["BodegaServer"]),
        .library(name: "BodegaSync", targets: ["BodegaSync"]),
        .library(name: "BodegaWebTokens", targets: ["BodegaWebTokens"]),
        .library(name: "BodegaTestSupport", targets: ["BodegaTestSupport"]),
        .library(name: "BodegaTesting", targets: ["BodegaTesting"]),
        .library(name: "Boutique", targets: ["Boutique"]),
        .library(name: "CodableStoreKit", targets: ["CodableStoreKit"]),
        .library(name: "RecordCoder", targets: ["RecordCoder"]),
        .executable(name: "bodega", targets: ["BodegaCLI"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "Builds the `bodega` command-line tool, the only product that needs swift-argument-parser."
        ),
        .trait(
            name: "Metrics",
            description: "Adds metrics of the calls of an engine to Bodega, which need swift-metrics."
        ),
        .trait(
            name: "Postgres",
            description: "Builds the engine for PostgreSQL, the only product that needs libpq."
        ),
        .trait(
            name: "Server",
            description: "Builds the server of collections over HTTP, the only product that needs Hummingbird."
        ),
        .trait(
            name: "WebTokens",
            description: "Builds JSON Web Tokens for the server, the only product that needs JWTKit.",
            enabledTraits: ["Server"]
        ),
        .trait(
            name: "SecretService",
            description: "Adds secrets in the keyring of a Linux desktop to Boutique, which need GLib."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        // Only with the trait Server.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // Only with the trait WebTokens.
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .target(
            name: "Bodega",
            dependencies: [
                "CLinuxFileSystem",
                "CSQLiteConfiguration",
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ]
        ),
        .target(name: "CLinuxFileSystem"),
        .target(name: "CCurlLibrary"),
        .target(name: "CSQLiteConfiguration"),
        .target(name: "RecordCoder"),
        .target(
            name: "BodegaPostgres",
            dependencies: [
                "Bodega",
                .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "BodegaHTTP",
            dependencies: ["Bodega", "CCurlLibrary", "RecordCoder"]
        ),
        .target(name: "BodegaRemote", dependencies: ["Bodega", "BodegaHTTP", "BodegaMessages", "RecordCoder"]),
        .target(
            name: "BodegaSync",
            dependencies: ["Bodega", "RecordCoder", .product(name: "Logging", package: "swift-log")]
        ),
        .target(
            name: "BodegaServer",
            dependencies: [
                "Bodega", "BodegaMessages", "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ]
        ),
        .target(
            name: "BodegaWebTokens",
            dependencies: [
                "Bodega", "BodegaMessages", "BodegaServer", "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["WebTokens"])),
            ]
        ),
        // What BodegaServer and BodegaRemote send to each other.
        .target(name: "BodegaMessages", dependencies: ["Bodega", "RecordCoder"]),
        // PostgreSQL's client library, needed only with the trait Postgres.
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(
            name: "BodegaTesting",
            dependencies: ["Bodega"]
        ),
        // Traits for Swift Testing. They are separate because programs that use BodegaTesting need not be tests.
        .target(name: "BodegaTestSupport", dependencies: ["Bodega"]),
        .target(
            name: "Boutique",
            dependencies: [
                "Bodega",
                .target(name: "CSecretService", condition: .when(traits: ["SecretService"])),
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                openCombine,
            ]
        ),
        // The calls of a secret service, empty without the trait SecretService.
        .target(
            name: "CSecretService",
            dependencies: [.target(name: "CGIO", condition: .when(traits: ["SecretService"]))],
            cSettings: [.define("EMPORIUM_SECRET_SERVICE", .when(traits: ["SecretService"]))]
        ),
        // GLib's library with D-Bus, needed only with the trait SecretService.
        .systemLibrary(
            name: "CGIO",
            pkgConfig: "gio-2.0",
            providers: [.apt(["libglib2.0-dev"]), .brew(["glib"])]
        ),
        .target(
            name: "CodableStoreKit",
            dependencies: [
                "Bodega",
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "BodegaCommands",
            dependencies: [
                "Bodega",
                "BodegaRemote",
                "BodegaSync",
                "RecordCoder",
                .target(name: "BodegaPostgres", condition: .when(traits: ["Postgres"])),
                .target(name: "BodegaServer", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ArgumentParser",
                    package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])
                ),
            ]
        ),
        .executableTarget(name: "BodegaCLI", dependencies: ["BodegaCommands"]),
        .testTarget(
            name: "BodegaTests",
            dependencies: [
                "Bodega", "BodegaTesting", "GettingStarted", "ReadmeProgram", "RecordCoder", "TestChild", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ]
        ),
        .testTarget(
            name: "BoutiqueTests",
            dependencies: [
                "Bodega", "BodegaTestSupport", "BodegaTesting", "Boutique", "CodableStoreKit", "TestChild",
                "TestSupport",
                openCombine,
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "CodableStoreKitTests",
            dependencies: ["Bodega", "BodegaTesting", "Boutique", "CodableStoreKit", "TestChild", "TestSupport"]
        ),
        .testTarget(
            name: "BodegaPostgresTests",
            dependencies: [
                "Bodega", "BodegaPostgres", "BodegaSync", "BodegaTesting", "Boutique", "RecordCoder", "TestChild",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "BodegaHTTPTests",
            dependencies: ["Bodega", "BodegaHTTP", "BodegaSync", "BodegaTesting", "Boutique", "TestSupport"],
            exclude: ["Server/server.py"]
        ),
        .testTarget(
            name: "BodegaSyncTests",
            dependencies: [
                "Bodega", "BodegaRemote", "BodegaSync", "BodegaTesting", "Boutique", "RecordCoder", "SyncSimulation",
                "TestSupport",
            ]
        ),
        // Synchronization in virtual time, with faults. `bin/simulate` runs it.
        .target(
            name: "SyncSimulation", dependencies: ["Bodega", "BodegaSync", "BodegaTesting"],
            path: "Tests/SyncSimulation"
        ),
        .executableTarget(
            name: "SyncSimulator", dependencies: ["BodegaSync", "SyncSimulation"], path: "Tests/SyncSimulator"),
        .testTarget(
            name: "BodegaCommandsTests",
            dependencies: [
                "Bodega", "BodegaTesting", "BodegaCommands", "BodegaCLI", "BodegaSync", "RecordCoder", "TestSupport",
                .target(name: "BodegaPostgres", condition: .when(traits: ["Postgres"])),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "RecordCoderTests",
            dependencies: ["BodegaTesting", "RecordCoder", "RecordCoderFuzz", "TestSupport"]
        ),
        // Compares the record coder with Foundation's on random documents. `bin/fuzz` runs it.
        .executableTarget(
            name: "RecordCoderFuzz", dependencies: ["BodegaTesting", "RecordCoder"], path: "Tests/RecordCoderFuzz"),
        // Tests of the conformance suite and the doubles, and of what this package's own tests use.
        .testTarget(name: "BodegaTestingTests", dependencies: ["Bodega", "BodegaTesting", "TestChild", "TestSupport"]),
        // Code that uses the APIs of Boutique 2 and 3 and of CodableStoreKit as existing programs do.
        .testTarget(
            name: "CompatibilityTests",
            dependencies: [
                "BodegaTesting", "Boutique", "CodableStoreCompatibilityChild", "CodableStoreKit", "CompatibilityChild",
                "TestSupport",
            ]
        ),
        // Programs written for Boutique 2 and for CodableStoreKit. Each imports only the API for which it was written,
        // and keeps its data in the user's folders.
        .executableTarget(name: "CompatibilityChild", dependencies: ["Boutique"], path: "Tests/CompatibilityChild"),
        .executableTarget(
            name: "CodableStoreCompatibilityChild",
            dependencies: ["CodableStoreKit"],
            path: "Tests/CodableStoreCompatibilityChild"
        ),
        // The program at the head of the README.
        .executableTarget(name: "ReadmeProgram", dependencies: ["Boutique"], path: "Tests/ReadmeProgram"),
        // The program of the tutorial.
        .executableTarget(name: "GettingStarted", dependencies: ["Boutique"], path: "Tests/GettingStarted"),
        // Helpers that the test targets share: processes, PostgreSQL servers, injected faults, stores on the same data,
        // random queries.
        .target(
            name: "TestSupport",
            dependencies: [
                "Bodega", "BodegaTesting", "Boutique", "CodableStoreKit", "RecordCoder", openCombine,
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport"
        ),
        // Tasks that tests and benchmarks run in another process, to kill it, limit its resources or race with it.
        .executableTarget(
            name: "TestChild",
            dependencies: [
                "Bodega", "BodegaTesting", "Boutique", "CodableStoreKit", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .target(name: "BodegaPostgres", condition: .when(traits: ["Postgres"])),
            ],
            path: "Tests/TestChild"
        ),
        // PostgreSQL as it runs in production: a cluster that fails over under load, and a pooler. `bin/chaos` runs it.
        .executableTarget(
            name: "PostgresChaos",
            dependencies: ["Bodega", "BodegaPostgres", "BodegaTesting", "Boutique", "TestSupport"],
            path: "Tests/PostgresChaos"
        ),
    ],
    swiftLanguageModes: [.v6]
)

let sharedSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Targets that stand for existing code, in Swift 5 without upcoming features.
let swift5Targets: Set = ["CodableStoreCompatibilityChild", "CompatibilityChild", "CompatibilityTests"]

/// Targets written in C.
let targetsInC: Set = ["CCurlLibrary", "CLinuxFileSystem", "CSQLiteConfiguration", "CSecretService"]

// Continuous integration builds only some of the tests for the thread sanitizer.
if let names = Context.environment["EMPORIUM_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.isTest && !names.contains($0.name) }
}

for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    let settings = swift5Targets.contains(target.name) ? [.swiftLanguageMode(.v5)] : sharedSettings
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}

// In continuous integration, the tests run against optimized libraries, with assertions.
if Context.environment["EMPORIUM_OPTIMIZED"] != nil {
    let libraries: Set = ["Bodega", "BodegaMessages", "BodegaSync", "Boutique", "RecordCoder", "SyncSimulation"]
    for target in package.targets where libraries.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }
}
