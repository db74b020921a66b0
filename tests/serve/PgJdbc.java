/* pgJDBC against a server: what DatabaseMetaData says, prepared statements, fetch sizes, warnings.
 * Exits with 0 if all holds. Arguments: the URL, the user, the token. */
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

public class PgJdbc {
    static void check(boolean holds, String what) {
        if (!holds) {
            System.err.println("does not hold: " + what);
            System.exit(1);
        }
    }

    static int rows(ResultSet result) throws SQLException {
        int count = 0;
        while (result.next())
            count++;
        return count;
    }

    static void metadata(Connection connection) throws SQLException {
        DatabaseMetaData about = connection.getMetaData();
        check(about.getDatabaseProductVersion().contains("brume"), about.getDatabaseProductVersion());
        check(rows(about.getSchemas()) == 3, "schemas");
        check(rows(about.getCatalogs()) == 1, "catalogs");
        ResultSet tables = about.getTables(null, null, "%", new String[] {"TABLE", "VIEW"});
        check(tables.next() && tables.getString("TABLE_NAME").equals("visits") && !tables.next(), "tables");
        ResultSet columns = about.getColumns(null, "public", "visits", "%");
        check(columns.next() && columns.getString("TYPE_NAME").equals("text"), "the first column");
        check(columns.next() && columns.getString("REMARKS").equals("bounds 0..100"), "the second column");
        check(rows(about.getPrimaryKeys(null, "public", "visits")) == 0, "keys");
        check(rows(about.getImportedKeys(null, "public", "visits")) == 0, "foreign keys");
        check(rows(about.getIndexInfo(null, "public", "visits", false, true)) == 0, "indexes");
        check(rows(about.getFunctions(null, null, "%")) == 0, "functions");
        check(rows(about.getProcedures(null, null, "%")) == 0, "procedures");
        check(rows(about.getTypeInfo()) > 20, "types");
        check(rows(about.getBestRowIdentifier(null, "public", "visits", 1, true)) == 0, "row identifiers");
    }

    static void asking(Connection connection) throws SQLException {
        PreparedStatement asked = connection.prepareStatement(
            "SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE age > ? AND person <> ? GROUP BY 1");
        check(asked.getMetaData().getColumnTypeName(2).equals("int8"), "described");
        ParameterMetaData parameters = asked.getParameterMetaData();
        check(parameters.getParameterCount() == 2, "parameters");
        asked.setInt(1, 10);
        asked.setString(2, "O'Brien");
        long first = -1;
        for (int i = 0; i < 8; i++) { /* after five the statement is named, and results are binary */
            ResultSet result = asked.executeQuery();
            check(result.next(), "a row");
            long n = result.getLong("n");
            result.getDouble("a");
            result.getBoolean("old");
            check(i == 0 || n == first, "the same answer again");
            first = n;
        }
        check(asked.getWarnings().getMessage().startsWith("read again, free of charge"), "warnings");
        connection.setAutoCommit(false);
        Statement statement = connection.createStatement();
        statement.setFetchSize(1);
        check(rows(statement.executeQuery("SELECT age > 40, COUNT(*) FROM visits GROUP BY 1")) == 3, "fetch size");
        connection.commit();
        connection.setAutoCommit(true);
        try {
            connection.createStatement().executeQuery("SELECT * FROM visits");
            check(false, "rows are refused");
        } catch (SQLException error) {
            check(error.getSQLState().equals("0A000"), error.getSQLState());
        }
    }

    public static void main(String[] arguments) throws Exception {
        Properties how = new Properties();
        how.put("user", arguments[1]);
        how.put("password", arguments[2]);
        how.put("options", "-c brume.epsilon=0.25");
        try (Connection connection = DriverManager.getConnection(arguments[0], how)) {
            metadata(connection);
            asking(connection);
        }
    }
}
