# A small shop: customers, their orders, the lines of these, and a public table. Order 1 stands twice, for two
# customers; order 9 is linked to nobody, and so is its line.
rm -f ./*.db* ./*.yaml ./*.csv
printf 'unit,ckey,nation,name\n1,11,FR,a\n2,12,DE,b\n3,13,FR,c\n' > customer.csv
printf 'okey,ocust,status\n1,11,F\n1,12,O\n2,11,O\n3,13,F\n9,99,F\n' > orders.csv
printf 'lorder,qty\n1,3\n1,4\n2,5\n3,6\n3,2\n3,1\n9,9\n' > lines.csv
printf 'nkey,nname\nFR,France\nDE,Germany\n' > nation.csv
cat > shop.yaml <<'YAML'
budget: epsilon=100000,delta=1e-6
rule: approximate
max-rows: 10
tables:
  customer:
    source: customer.csv
    unit: unit
    columns: unit integer, ckey integer
    identifier: [name]
  orders:
    source: orders.csv
    link: ocust = customer.ckey
    columns: okey bigint, ocust integer
    domain:
      status: [F, O]
  lines:
    source: lines.csv
    link: lorder = orders.okey
    columns: lorder bigint
    bounds: {qty: 0..9}
  nation:
    source: nation.csv
    public: true
YAML
